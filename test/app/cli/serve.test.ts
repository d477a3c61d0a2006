import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../src/app/config/config.ts";
import { startGateway } from "../../../src/app/serve.ts";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { IS_SOAK, shareOf } from "../../support/law-runs.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { runInProcess } from "./run-in-process.ts";
import { type RunningCli, spawnCli, spawnCommand } from "./spawn-cli.ts";
import { hasPty, spawnPtyCli } from "./spawn-pty.ts";

const SERVE = ["serve", "--port", "0", "--warmup", "0"];
/** Servers in the test's process write no data directory. */
const NO_DATA = { FLAREWIRE_DATA: "none" };

/** What npm tells a program about itself. */
const NPM_START = { npm_package_name: "flarewire", npm_lifecycle_event: "start" };
const NPM_HINT =
  "npm did not pass on --port: use npm start -- --port 1; if an .npmrc sets it, remove it there";

/** Matches a log line that a healthy server does not write. */
const TROUBLE = /"level":"(?!info)|"rejected"/;

/** Returns the gateway's address once it has data. */
async function urlOf(cli: RunningCli): Promise<string> {
  await cli.said("stdout", "\n");
  const url = /^flarewire serves (http:\/\/127\.0\.0\.1:\d+) /.exec(cli.stdout())?.[1] ?? "";
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { interval: 20 }).toBe(200);
  return url;
}

test.each(shareOf(["SIGTERM", "SIGINT"] as const))(
  "serve prints its address in one line, serves there, and stops in order at %s, with exit code 0 and no warning in its log",
  async (signal) => {
    await using cli = spawnCli(SERVE);
    const answer = await fetch(`${await urlOf(cli)}/api/v1/flares`);
    expect(answer.status).toBe(200);
    cli.child.kill(signal);
    expect(await cli.ended()).toBe(0);
    expect(cli.stdout()).toMatch(/^[^\n]+\n$/);
    const lines = cli.stderr().trim().split("\n");
    expect(lines.filter((line) => TROUBLE.test(line))).toEqual([]);
    const logged = lines.map((line) => JSON.parse(line));
    expect(logged).toContainEqual(expect.objectContaining({ cause: signal, msg: "stopping" }));
  },
);

test.skipIf(!hasPty)(
  "on a terminal, serve shows the progress of a long warm-up, and that it is stopping",
  async () => {
    await using cli = spawnPtyCli(["serve", "--port", "0", "--warmup", "7d", "--data", "none"]);
    await cli.shows(/flarewire: warming up: \d+ %/);
    cli.send({ keys: "\u0003" });
    await cli.shows(
      "flarewire: stopping; clients are disconnected within 10 s; after a second, another Ctrl-C exits at once",
    );
    expect(await cli.ended()).toBe(0);
    expect(cli.stdout().match(/stopping/g)).toHaveLength(1);
  },
);

test("the simulated market logs no warning, neither at a new start nor when it resumes", async ({
  onTestFinished,
}) => {
  const data = mkdtempSync(join(tmpdir(), "flarewire-serve-"));
  onTestFinished(() => rmSync(data, { recursive: true }));
  for (const start of ["new", "resumed"]) {
    const logged: string[] = [];
    const logger = createLogger("info", { write: (line) => void logged.push(line) });
    const args = ["--port", "0", "--warmup", IS_SOAK ? "20m" : "2m", "--data", data];
    const gateway = await startGateway(loadConfig({ args }).config, { logger });
    await expect.poll(() => logged.join("")).toContain('"msg":"source is live"');
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    await gateway.stop();
    expect([start, logged.filter((line) => TROUBLE.test(line))]).toEqual([start, []]);
  }
});

test("a port in use is a user error: exit code 1", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { code, stdout, stderr } = await runInProcess(["serve", "--port", String(port)], NO_DATA);
  other.close();
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(`port = ${port} is already in use on 127.0.0.1: choose another`);
});

test.each([
  [
    "203.0.113.9",
    "host = 203.0.113.9 is not an address of this machine: choose one of this machine's addresses, or --host",
  ],
  ["no-such-host.invalid", "host = no-such-host.invalid does not resolve to an address"],
])("a host that serve cannot listen on, %s, is a user error: exit code 1", async (host, expected) => {
  const { code, stdout, stderr } = await runInProcess(["serve", "--port", "0", "--host", host], NO_DATA);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(expected);
});

test("an invalid recording is a user error: exit code 1", async () => {
  const recording = ["--file", "LICENSE", "--log-level", "silent"];
  const { code, stderr } = await runInProcess(["serve", "--port", "0", ...recording], NO_DATA);
  expect(code).toBe(1);
  expect(stderr).toContain("LICENSE");
});

test.skipIf(process.platform === "win32")(
  "a server that cannot write its data directory at the start, for lack of space, exits with 75",
  ({ onTestFinished }) => {
    const data = join(newDirectory(onTestFinished), "data");
    // Files may have 2 KiB at most, so that a write fails as on a full disk.
    const command = 'ulimit -f 4 && exec "$0" src/main.ts serve --port 0 --data "$1"';
    const { status, stderr } = spawnSync("sh", ["-c", command, process.execPath, data], {
      cwd: join(import.meta.dirname, "../../.."),
      encoding: "utf8",
    });
    expect(stderr).toContain("cannot be used");
    expect(status).toBe(75);
  },
);

test("npm start with a flag that npm does not pass on fails with the command to use instead", async () => {
  await using cli = spawnCommand("npm", ["start", "--port", "1"]);
  expect(await cli.ended()).toBe(1);
  expect(cli.stderr()).toContain(`flarewire serve: ${NPM_HINT}\n`);
});

test("serve logs a warning if npm did not pass on a flag", async () => {
  // The start fails because this path cannot be a data directory.
  const environment = { ...NPM_START, npm_config_port: "1", FLAREWIRE_DATA: "package.json/data" };
  await using cli = spawnCli(["serve"], environment);
  await cli.ended();
  const [line = ""] = cli.stderr().split("\n");
  expect(JSON.parse(line)).toMatchObject({ level: "warn", msg: NPM_HINT });
});
