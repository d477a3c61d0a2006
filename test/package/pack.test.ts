import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, type OnTestFinishedHandler, test } from "vitest";
import { GUIDES } from "../../src/http/index.ts";
import { copyOfDependencies, copyOfSources, environmentOfNode, LOWEST_NODE } from "./copy-of-sources.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

const env = environmentOfNode(LOWEST_NODE);
const title = env
  ? `the package, packed and installed elsewhere, runs on Node ${LOWEST_NODE}`
  : `the package (skipped: npm cannot fetch Node ${LOWEST_NODE})`;

/** The examples with the types of the package, and of what they need beside it. */
async function checkTypes(folder: string): Promise<void> {
  const { compilerOptions } = JSON.parse(await readFile(join(ROOT, "tsconfig.json"), "utf8"));
  const { customConditions: _ofClones, ...options } = compilerOptions;
  const modules = join(ROOT, "node_modules");
  const types = { typeRoots: [`${modules}/@types`], paths: { react: [`${modules}/@types/react`] } };
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...options, ...types }, include: ["*.ts"] }),
  );
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await run(join(modules, ".bin/tsc"), ["-p", folder], { env }).catch(({ stdout }) =>
    expect(stdout).toBe(""),
  );
}

/** The first line that is not Node 22's warning of its SQLite; `undefined`: there is none. */
async function firstOwnLine(input: Readable): Promise<string | undefined> {
  for await (const line of createInterface({ input })) {
    if (!/ExperimentalWarning: SQLite|--trace-warnings/.test(line)) return line;
  }
  return undefined;
}

/** npx passes SIGTERM to its shell only, and both end; the program has to see that by itself. */
async function stopThroughNpx(
  folder: string,
  onTestFinished: (handler: OnTestFinishedHandler) => void,
): Promise<void> {
  const npx = spawn("npx", ["flarewire", "serve", "--port", "0", "--warmup", "1m"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, XDG_STATE_HOME: join(folder, "state") },
    detached: true,
  });
  const { pid } = npx;
  if (pid === undefined) throw new Error("npx did not start");
  onTestFinished(() => {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // Nothing of the group is left.
    }
  });
  const logged: string[] = [];
  createInterface({ input: npx.stderr }).on("line", (line) => logged.push(line));
  await once(createInterface({ input: npx.stdout }), "line");
  const outputEnded = once(npx, "close");
  npx.kill("SIGTERM");
  await expect.poll(() => logged.join("\n")).toContain('"msg":"stopped"');
  await outputEnded;
}

test.skipIf(!env)(
  `${title}, with no sources and no build, and drains at SIGTERM, through npx too`,
  {
    timeout: 600_000,
  },
  async ({ onTestFinished }) => {
    const folder = await mkdtemp(join(tmpdir(), "flarewire-pack-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const clone = await copyOfSources(folder);
    await symlink(join(ROOT, "node_modules"), join(clone, "node_modules"));
    const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: clone });
    const packed = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as {
      filename: string;
      files: { path: string }[];
    }[];
    const paths = (packed[0]?.files ?? []).map(({ path }) => path);
    expect(paths).toContain("dist/main.js");
    expect(paths).toContain("dist/dashboard/index.html");
    expect(paths).toContain("dist/widget/widget.js");
    expect(paths).toContain("examples/data/2017-11-12.csv.gz");
    const own = paths.filter((path) => /^(src|test|examples\/[^/]*$)/.test(path)).sort();
    // What the README links to, and no source.
    expect(own).toEqual([
      "examples/README.md",
      "examples/bot.ts",
      "examples/discord.ts",
      "examples/embed.ts",
      "examples/follow.py",
      "examples/follow.sh",
      "examples/grafana-dashboard.json",
      "examples/paper-trade.ts",
      "examples/poll.ts",
      "examples/telegram.ts",
      "examples/use-flares.ts",
      "src/README.md",
      "src/alerts/ALERTS.md",
      "src/client/README.md",
      "src/config/SETTINGS.md",
      "src/dashboard/README.md",
      "src/feed/CHAINS.md",
      "src/feed/LIVE.md",
      "src/feed/RECORDING.md",
      "src/gateway/OPERATING.md",
      "src/gateway/SCALING.md",
      "src/protocol/CODES.md",
      "src/protocol/PROTOCOL.md",
      "src/trend/README.md",
      "src/widget/README.md",
    ]);

    copyOfDependencies(folder);
    await writeFile(join(folder, "package.json"), JSON.stringify({ name: "user", private: true }));
    await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", `./${packed[0]?.filename}`], {
      cwd: folder,
      env,
    });
    await expect(
      run(
        "node",
        [
          "--input-type=module",
          "-e",
          'import { startGateway } from "flarewire"; console.log(typeof startGateway)',
        ],
        { cwd: folder, env },
      ),
    ).resolves.toMatchObject({ stdout: "function\n" });

    await expect(
      run(
        "node",
        [
          "--input-type=module",
          "-e",
          'import { connect } from "flarewire/client"; const stream = connect("http://127.0.0.1:9"); stream.close(); console.log(stream.connection.state)',
        ],
        { cwd: folder, env },
      ),
    ).resolves.toMatchObject({ stdout: "closed\n" });

    const bin = join(folder, "node_modules", ".bin", "flarewire");
    const old = { cwd: folder, env: environmentOfNode("20.19.6") ?? {} };
    await expect(run(bin, ["--version"], old)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^flarewire needs Node >=22\.18, and this is 20\.19\.6: update Node\n$/),
    });
    const server = spawn(bin, ["serve", "--port", "0", "--warmup", "1m", "--log-level", "error"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...env, XDG_STATE_HOME: join(folder, "state") },
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    expect(url, line).toBeDefined();
    const health = await fetch(`${url}/healthz`);
    expect(health.status).toBe(200);
    for (const path of [
      "",
      "docs",
      "docs/events",
      "docs/protocol",
      "docs/guides",
      ...GUIDES.map(({ path }) => path.slice(1)),
      "docs/rest/get-flares",
      "docs/search.json",
      "docs/page.js",
      "docs/page.css",
      "openapi.json",
      "asyncapi.json",
      "widget.js",
      "flare-strip.js",
      "widgets",
    ]) {
      expect((await fetch(`${url}/${path}`)).status, path).toBe(200);
    }

    // Copied out, since Node runs no TypeScript below node_modules.
    await cp(join(folder, "node_modules/flarewire/examples"), folder, { recursive: true });
    await checkTypes(folder);
    for (const [example, ...args] of [
      ["bot.ts", `${url}`],
      ["embed.ts", "0"],
    ]) {
      const running = spawn("node", [`${example}`, ...args], {
        cwd: folder,
        env: { ...env, FLAREWIRE_DATA: "none" },
        stdio: ["ignore", "pipe", "pipe"],
      });
      onTestFinished(() => void running.kill("SIGKILL"));
      const said = [running.stdout, running.stderr].map(firstOwnLine);
      // The first line of a program that does not run is where it stands.
      expect(await Promise.race(said)).toMatch(/^(connecting|live) by websocket|^listening on http/);
    }

    const exited = once(server, "exit");
    server.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    await stopThroughNpx(folder, onTestFinished);
  },
);
