import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { rolldown } from "rolldown";
import { test as base, expect, vi } from "vitest";
import { createConfig, startGateway } from "../../src/index.ts";
import { copyOfSources, environmentOfNode } from "./copy-of-sources.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);
const PACKAGES = ["client", "react"] as const;
const MAX_BUNDLE = 7_000;

// A busy machine builds for minutes.
vi.setConfig({ testTimeout: 600_000 });

/** An empty project with both packages, built and packed from the sources as they are now. */
const test = base.extend<{ project: string }>({
  project: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
    async ({}, use) => {
      const folder = await mkdtemp(join(tmpdir(), "flarewire-clients-"));
      const clone = await copyOfSources(folder);
      await symlink(join(ROOT, "node_modules"), join(clone, "node_modules"));
      await run("npm", ["run", "packages"], { cwd: clone });
      const folders = PACKAGES.map((name) => join(clone, "dist/packages", name));
      const project = join(folder, "project");
      await mkdir(project);
      await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
      await run("npm", ["pack", "--pack-destination", project, ...folders], { cwd: clone });
      const files = PACKAGES.map((name) => `./flarewire-${name}-0.1.0.tgz`);
      // React comes from the clone: nothing is fetched.
      const flags = ["--offline", "--legacy-peer-deps", "--no-audit", "--no-fund"];
      await run("npm", ["install", ...flags, ...files], { cwd: project });
      await cp(join(ROOT, "node_modules/react"), join(project, "node_modules/react"), { recursive: true });
      await use(project);
      await rm(folder, { recursive: true, force: true });
    },
    { scope: "file" },
  ],
});

const BOT = `import { connect, type Flare, type FlareStarted, type StreamItem } from "@flarewire/client";
import { type Flares, useFlares } from "@flarewire/react";

const stream = connect(process.argv[2] ?? "", { channels: ["*"], filter: { sticky: true, min_price_change: -100 } });
const symbolOf = (flare: Flare): string => flare.token.symbol + flare.token.address.slice(42);
const started = ({ data }: FlareStarted) => symbolOf(data.flare);
export const hook: (server: string) => Flares = useFlares;
for await (const item of stream) {
  const { name }: StreamItem = item;
  console.log(name);
  if (item.name === "flare-started") console.log(started(item));
  if (item.name === "reset") continue;
  console.log(stream.connection.transport);
  break;
}
stream.close();
`;

/** The types that are written out of schemas: they must be what the sources have. */
const SAME_TYPES = `import type * as packed from "@flarewire/client";
import type * as own from "${ROOT}src/client/index.ts";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
export const same: [
  Same<packed.StreamItem, own.StreamItem>, Same<packed.EventBody, own.EventBody>, Same<packed.View, own.View>,
  Same<packed.Filter, own.Filter>, Same<packed.Flare, own.Flare>, Same<packed.ChartItem, own.ChartItem>,
  Same<packed.LeaderboardEntry, own.LeaderboardEntry>, Same<packed.Listing, own.Listing>,
  Same<packed.Outcome, own.Outcome>, Same<packed.Explanation, own.Explanation>,
  Same<keyof packed.Stream, keyof own.Stream>, Same<packed.Stream["server"], own.Stream["server"]>,
  Same<keyof packed.ConnectOptions, keyof own.ConnectOptions>, Same<packed.DataFreshness, own.DataFreshness>,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true, true];
`;

async function checkTypes(project: string, options: object, ...files: readonly string[]): Promise<string> {
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  const shared = { target: "es2024", lib: ["es2024", "dom"], noEmit: true, skipLibCheck: false };
  const compilerOptions = { ...strict, ...shared, types: [], ...options };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const tsc = run(join(ROOT, "node_modules/.bin/tsc"), ["-p", project]);
  return tsc.then(
    () => "",
    ({ stdout }) => String(stdout),
  );
}

test("@flarewire/client and @flarewire/react install without other packages, and publint finds no fault", async ({
  project,
}) => {
  const lock = JSON.parse(await readFile(join(project, "package-lock.json"), "utf8"));
  const installed = Object.keys(lock.packages).filter((path) => path !== "");
  expect(installed).toEqual(PACKAGES.map((name) => `node_modules/@flarewire/${name}`));
  for (const name of PACKAGES) {
    const folder = join(project, "node_modules/@flarewire", name);
    const { messages, pkg } = await publint({ pkgDir: folder, pack: false, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
    const readme = await readFile(join(folder, "README.md"), "utf8");
    expect(readme).toContain(`from "@flarewire/${name}"`);
    expect(readme).not.toMatch(/\]\((?!http)/);
  }
});

test("the types of the client packages are complete under strict rules, for Node and for bundlers, and as in the sources", async ({
  project,
}) => {
  await writeFile(join(project, "bot.ts"), `declare const process: { argv: string[] };\n${BOT}`);
  await writeFile(join(project, "same.ts"), SAME_TYPES);
  const node = { module: "node16", moduleResolution: "node16" };
  expect(await checkTypes(project, node, "bot.ts")).toBe("");
  const bundler = { module: "esnext", moduleResolution: "bundler" };
  expect(await checkTypes(project, bundler, "bot.ts")).toBe("");
  const sources = { ...bundler, allowImportingTsExtensions: true, skipLibCheck: true };
  const types = { types: ["node"], typeRoots: [join(ROOT, "node_modules/@types")] };
  expect(await checkTypes(project, { ...sources, ...types }, "same.ts")).toBe("");
});

test.for(["20.19.6", "22.18.0"])(
  "a bot of the client packages runs on Node %s",
  async (version, { project, skip }) => {
    const env = environmentOfNode(version);
    if (!env) return skip(`npm cannot fetch Node ${version}`);
    const feed = { feed: "replay", speed: 600, file: join(ROOT, "examples/data/2017-11-12.csv.gz") } as const;
    const gateway = await startGateway(createConfig({ ...feed, port: 0, logLevel: "silent", drain: "0" }));
    try {
      const code = BOT.replaceAll(
        /, type \w+|type \w+, |: (Flare|FlareStarted|StreamItem|string)\b/g,
        "",
      ).replace(/hook: .* =/, "hook =");
      await writeFile(join(project, "bot.js"), code);
      const { stdout } = await run("node", ["bot.js", gateway.url], { cwd: project, env });
      const transport = version.startsWith("20") ? "sse" : "websocket";
      expect(stdout).toMatch(new RegExp(`^reset\n[^]*\n${transport}\n$`));
    } finally {
      await gateway.stop();
    }
  },
);

test("a page's bundle of the client package has all of it in 7 kB, and one of both needs nothing of Node", async ({
  project,
}) => {
  const bundle = async (code: string, external: string[]) => {
    const input = join(project, "page.js");
    await writeFile(input, code);
    await using build = await rolldown({ input, platform: "browser", external });
    const { output } = await build.generate({ format: "es", minify: true });
    return output[0].code;
  };
  const client = await bundle('export { connect, StreamError } from "@flarewire/client";', []);
  expect(gzipSync(client, { level: 9 }).length).toBeLessThanOrEqual(MAX_BUNDLE);
  const both = await bundle('export { useFlares } from "@flarewire/react";', ["react"]);
  expect([...both.matchAll(/from *"([^"]+)"/g)].map(([, name]) => name)).toEqual(["react"]);
});
