import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { test as base, expect, vi } from "vitest";
import { systemClock } from "../../src/base/lib/time/clock.ts";
import { GUIDES } from "../../src/extensions/docs/index.ts";
import { type RunningCli, spawnCommand } from "../app/cli/spawn-cli.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { ChainEndpoint } from "../support/world/chain-endpoint.ts";
import { writePumpedMarket } from "../support/world/pumped-market.ts";
import { SyntheticChain } from "../support/world/synthetic-chain.ts";
import { testClientPackages } from "./client-packages.ts";
import { environmentOfNode, LOWEST_NODE } from "./copy-of-sources.ts";
import { type InstalledPackages, installPackages } from "./installed-package.ts";
import { NO_PROBLEM, publint } from "./publint.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The package for Python, which the npm package contains. */
const PYTHON = "src/clients/python";
const MAX_INSTALLED_KIB = 35 * 1_000;
const run = promisify(execFile);

const env = environmentOfNode(LOWEST_NODE);
const title = env
  ? `the installed package on Node ${LOWEST_NODE}`
  : `the installed package (skipped: npm cannot fetch Node ${LOWEST_NODE})`;

// On a busy machine, the build and the installation take minutes.
vi.setConfig({ testTimeout: 600_000 });

const withPackages = base.extend<{
  installed: InstalledPackages;
  server: { readonly url: string; readonly cli: RunningCli };
}>({
  installed: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
    async ({}, use) => {
      await using installed = await installPackages(env ?? process.env);
      await use(installed);
    },
    { scope: "file" },
  ],
  server: [
    async ({ installed: { folder } }, use) => {
      const file = writePumpedMarket(join(folder, "market.csv"), 24);
      const market = ["--file", file, "--group", "bsc", "--warmup", "1h"];
      const serve = ["serve", "--port", "0", ...market];
      const cli = startProgram(folder, "npx", "flarewire", ...serve);
      try {
        await use({ url: await addressOf(cli), cli });
      } finally {
        // npx and its shell are in the program's process group. No process of it may remain.
        if (cli.child.pid !== undefined) killGroup(cli.child.pid);
        await cli.ended();
      }
    },
    { scope: "file" },
  ],
});
const test = withPackages.skipIf(!env);
/** Runs in soaks only. `npm test` runs these commands from the sources instead. */
const testInSoak = withPackages.skipIf(!env || !IS_SOAK);
testClientPackages(withPackages);

/** Starts the command `flarewire` of the project in this folder. */
function start(cwd: string, ...args: readonly string[]): RunningCli {
  return startProgram(cwd, join(cwd, "node_modules/.bin/flarewire"), ...args);
}

function startProgram(cwd: string, program: string, ...args: readonly string[]): RunningCli {
  const { PATH = "" } = env ?? {};
  return spawnCommand(
    program,
    args,
    { PATH, NODE_OPTIONS: "", NODE_COMPILE_CACHE: "" },
    { cwd, detached: true },
  );
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has already ended.
  }
}

async function addressOf(cli: RunningCli): Promise<string> {
  await cli.said("stdout", /http:\/\/127\.0\.0\.1:\d+/);
  return /http:\/\/127\.0\.0\.1:\d+/.exec(cli.stdout())?.[0] ?? "";
}

async function fetchText(url: string): Promise<string> {
  const response = await fetch(url);
  expect(response.status, url).toBe(200);
  return response.text();
}

/** Checks the examples against the types of the package and of their other dependencies. */
async function checkTypes(folder: string): Promise<void> {
  const { compilerOptions } = JSON.parse(await readFile(join(ROOT, "tsconfig.json"), "utf8"));
  const { customConditions: _ofClones, ...options } = compilerOptions;
  const modules = join(ROOT, "node_modules");
  const types = { typeRoots: [`${modules}/@types`], paths: { react: [`${modules}/@types/react`] } };
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...options, ...types }, include: ["*.ts"] }),
  );
  await run(join(modules, ".bin/tsc"), ["-p", folder, "--singleThreaded"], { env }).catch(({ stdout }) =>
    expect(stdout).toBe(""),
  );
}

test(`${title} contains the documents and examples, but no sources, and publint finds no problem`, async ({
  installed: { files, folder },
  skip,
}) => {
  expect(files).toContain("dist/main.js");
  expect(files).toContain("dist/dashboard/index.html");
  expect(files).toContain("dist/widget/widget.js");
  expect(files).toContain("examples/data/2017-11-12.csv.gz");
  const documents = GUIDES.map(({ file }) => file).filter((file) => file.startsWith("src/"));
  const examples = (await readdir(join(ROOT, "examples"))).filter((name) => name.includes("."));
  const modules = (await readdir(join(ROOT, PYTHON, "flarewire"))).filter((name) => !name.startsWith("__py"));
  const python = ["pyproject.toml", ...modules.map((name) => `flarewire/${name}`)];
  const expected = [
    ...examples.map((name) => `examples/${name}`),
    ...[...documents, "src/base/protocol/PROTOCOL.md"],
    ...python.map((name) => `${PYTHON}/${name}`),
  ];
  expect(files.filter((path) => /^(src|test|examples\/[^/]*$)/.test(path)).sort()).toEqual(expected.sort());
  const report = await publint(join(folder, "node_modules/flarewire"));
  expect(report ?? skip("npm cannot fetch publint")).toMatch(NO_PROBLEM);
});

test("packing restores package.json, also after an earlier packing was interrupted", async ({
  installed: { folder },
}) => {
  const clone = join(folder, "clone");
  const own = await readFile(join(ROOT, "package.json"), "utf8");
  const { prepack, postpack } = JSON.parse(own).scripts;
  const [, pack = ""] = prepack.split(" && ");
  // It was packed once, without the script that restores.
  expect(await readFile(join(clone, "package.json"), "utf8")).not.toBe(own);
  await run("sh", ["-c", `${pack} && ${postpack}`], { cwd: clone });
  expect(await readFile(join(clone, "package.json"), "utf8")).toBe(own);
});

test(`${title} takes at most 35 MB with its dependencies, has no script that an installation runs, and has the licenses of bundled packages`, async ({
  installed: { folder },
}) => {
  const { stdout } = await run("du", ["-sk", "node_modules"], { cwd: folder });
  expect(Number.parseInt(stdout, 10)).toBeLessThan(MAX_INSTALLED_KIB);
  const manifest = JSON.parse(await readFile(join(folder, "node_modules/flarewire/package.json"), "utf8"));
  expect(Object.keys(manifest)).not.toEqual(expect.arrayContaining(["scripts"]));
  expect(manifest).toMatchObject({
    dependencies: { fastify: expect.any(String) },
    exports: { "./client": {} },
  });
  const licenses = await readFile(
    join(folder, "node_modules/flarewire/dist/THIRD-PARTY-LICENSES.txt"),
    "utf8",
  );
  for (const name of [
    "ox",
    "abitype",
    "@noble/hashes",
    "ioredis",
    "jose",
    "mqtt",
    "@preact/signals",
    "@preact/signals-core",
    "preact",
    "preact-render-to-string",
    "uuid",
  ])
    expect(licenses).toMatch(new RegExp(`^${name} [\\d.]+\\n\\n(The )?MIT License`, "m"));
});

test(`${title} serves its pages and a picture, tail and the examples follow it, and a SIGTERM to npx stops it`, async ({
  installed: { folder },
  server: { url, cli },
  onTestFinished,
}) => {
  for (const path of [
    ...["", "healthz", "docs", "docs/events", "docs/protocol", "docs/guides", "docs/rest/get-flares"],
    ...GUIDES.map((guide) => guide.path.slice(1)),
    ...["docs/search.json", "docs/page.js", "docs/page.css", "openapi.json", "asyncapi.json"],
    ...["widget.js", "flare-strip.js", "widgets"],
  ])
    await fetchText(`${url}/${path}`);
  expect(await fetchText(`${url}/metrics`)).toContain("flarewire_");

  const started = `${url}/api/v1/events?after=oldest&names=flare-started&limit=1&wait=60`;
  const { events }: { events: { data: { flare: { id: string } } }[] } = JSON.parse(await fetchText(started));
  const picture = await fetch(`${url}/flare/${events[0]?.data.flare.id}/picture.png`);
  expect(picture.headers.get("content-type")).toBe("image/png");

  await using tail = start(folder, "tail", url, "--updates");
  await tail.said("stdout", /flare-(?!running)\w+ +flares\.pro/);

  // Copied, because Node runs no TypeScript in node_modules.
  await cp(join(folder, "node_modules/flarewire/examples"), folder, { recursive: true });
  if (IS_SOAK) await checkTypes(folder);
  for (const [example = "", ...args] of [
    ["bot.ts", url],
    ["embed.ts", "0"],
  ]) {
    // Without a warm-up, the recorded day begins at once.
    const running = startProgram(folder, "env", "FLAREWIRE_WARMUP=0", "node", example, ...args);
    onTestFinished(() => running[Symbol.asyncDispose]());
    const said = () => running.stdout() + running.stderr();
    await expect.poll(said).toMatch(/live by websocket|listening on http/);
  }
  cli.child.kill("SIGTERM");
  await cli.ended();
  expect(cli.stderr()).toContain('"msg":"stopped"');
});

testInSoak(
  `${title}: npx serves the packed file from an empty folder`,
  async ({ installed: { packed }, onTestFinished }) => {
    // Outside of the folder that has the installed package, which npx would run instead.
    const empty = await mkdtemp(join(tmpdir(), "flarewire-npx-"));
    onTestFinished(() => rm(empty, { recursive: true }));
    await cp(packed, join(empty, basename(packed)));
    const file = `./${basename(packed)}`;
    const command = ["--yes", "--prefer-offline", file, "serve", "--port", "0", "--warmup", "0"];
    const cli = startProgram(empty, "npx", ...command);
    try {
      await fetchText(`${await addressOf(cli)}/healthz`);
      expect(cli.stderr()).not.toContain("npm warn");
    } finally {
      if (cli.child.pid !== undefined) killGroup(cli.child.pid);
      await cli.ended();
    }
  },
);

testInSoak(`${title} follows a chain`, async ({ installed: { folder } }) => {
  const density = { pools: 6, swaps: 3, pairs: 8, others: 1 };
  const chain = new SyntheticChain("bsc", density, () => systemClock.now());
  await using one = await ChainEndpoint.open(chain, systemClock, 1, true);
  await using other = await ChainEndpoint.open(chain, systemClock, 2, true);
  const endpoints = ["--chain", "bsc", "--rpc", [one, other].map(({ node }) => node.url).join()];
  await using cli = start(folder, "serve", "--port", "0", "--warmup", "10s", "--feed", "chain", ...endpoints);
  const url = await addressOf(cli);
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
  chain.list("NOVEL");
  await expect.poll(() => fetchText(`${url}/api/v1/newest`)).toContain('"NOVEL"');
});

testInSoak(`${title} runs a backtest of an example bot`, async ({ installed: { folder } }) => {
  const examples = join(folder, "node_modules/flarewire/examples");
  await cp(join(examples, "paper-trade.ts"), join(folder, "paper-trade.ts"));
  const market = writePumpedMarket(join(folder, "market.csv"), 2);
  await using cli = start(folder, "backtest", market, "--group", "bsc", "--bot", "paper-trade.ts");
  expect(await cli.ended(), cli.stderr()).toBe(0);
  expect(cli.stdout()).toMatch(/^[1-9]\d* trades?, \d+ won/m);
});

const FOLLOWING = `import { connect, type FlareStarted, StreamError } from "flarewire/client";
const symbolOf = ({ data }: FlareStarted): string => data.flare.token.symbol;
const stream = connect("http://127.0.0.1:8080", { channels: ["flares.pro"], key: process.env.KEY });
stream.on("error", (error) => console.error(error instanceof StreamError));
for await (const item of stream) if (item.name === "flare-started") console.log(symbolOf(item));
`;
const EMBEDDING = `import { createConfig, EventBody, type Flare, startGateway } from "flarewire";
export const flares: readonly Flare[] = [];
const gateway = await startGateway(createConfig({ port: 0 }), { logger: undefined });
gateway.events.on("flare-started", (event) => console.log(EventBody.parse(event).name));
`;

/** Counts the types that the compiler creates for a program in the folder. */
async function typesOf(folder: string, program: string): Promise<number> {
  const options = { target: "es2024", module: "nodenext", strict: true, exactOptionalPropertyTypes: true };
  const types = { types: ["node"], typeRoots: [join(ROOT, "node_modules/@types")] };
  const project = join(folder, "tsconfig.costs.json");
  await writeFile(join(folder, "costs.ts"), program);
  const compilerOptions = { ...options, ...types, noEmit: true };
  await writeFile(project, JSON.stringify({ compilerOptions, files: ["costs.ts"] }));
  const flags = ["-p", project, "--extendedDiagnostics", "--singleThreaded"];
  const tsc = run(join(ROOT, "node_modules/.bin/tsc"), flags);
  const { stdout } = await tsc.catch((error: { readonly stdout: string }) => error);
  expect(stdout).not.toContain("error TS");
  return Number(/^Types: +(\d+)$/m.exec(stdout)?.[1]);
}

test(`${title}: with every declaration checked, a bot and a program that embeds the gateway cost the compiler few types`, async ({
  installed: { folder },
}) => {
  const ofWs = "node_modules/@types/ws";
  await cp(join(ROOT, ofWs), join(folder, ofWs), { recursive: true });
  const ofNode = await typesOf(folder, "console.log(process.argv);");
  expect(ofNode).toBeGreaterThan(10_000);
  expect((await typesOf(folder, FOLLOWING)) - ofNode).toBeLessThan(10_000);
  expect((await typesOf(folder, EMBEDDING)) - ofNode).toBeLessThan(100_000);
});

test(`${title} exports the gateway and the client, and each of its modules loads`, async ({
  installed: { folder },
}) => {
  const at = join(folder, "node_modules/flarewire/dist/chunks");
  const chunks = await readdir(at);
  const texts = await Promise.all(chunks.map((chunk) => readFile(join(at, chunk), "utf8")));
  const onDemand = [...texts.join("\n").matchAll(/\bimport\("\.\/([^"]+)"\)/g)].map(([, name]) => name);
  expect(onDemand.length).toBeGreaterThan(9);
  expect(chunks).toEqual(expect.arrayContaining(onDemand));
  const code = [
    ...chunks.map((chunk) => `await import("./node_modules/flarewire/dist/chunks/${chunk}");`),
    'import { startGateway } from "flarewire";',
    'import { connect } from "flarewire/client";',
    'const stream = connect("http://127.0.0.1:9");',
    "stream.close();",
    "console.log(typeof startGateway, stream.connection.state);",
  ];
  await using cli = startProgram(folder, "node", "--input-type=module", "-e", code.join(""));
  expect(await cli.ended(), cli.stderr()).toBe(0);
  expect(cli.stdout()).toBe("function closed\n");
});

test(`${title}: an older Node exits with code 1 and names the required version`, async ({
  installed: { folder },
}) => {
  const bin = join(folder, "node_modules", ".bin", "flarewire");
  await expect(run(bin, ["--version"], { env: environmentOfNode("20.19.6") ?? {} })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^flarewire needs Node >=22\.18, and this is 20\.19\.6: update Node\n$/),
  });
});
