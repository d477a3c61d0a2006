import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { createConfig } from "../../src/app/config/config.ts";
import { startGateway } from "../../src/app/serve.ts";
import { CLOSE_CODES } from "../../src/base/protocol/index.ts";
import { runInProcess as flarewire, startInProcess } from "../app/cli/run-in-process.ts";
import { spawnCli } from "../app/cli/spawn-cli.ts";
import { type Finish, newDirectory } from "../support/servers/edges.ts";

test("[K7] a running server accepts a new key from flarewire keys, closes its connections on revocation, and never logs a secret", async () => {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-keys-scenario-"));
  const file = join(directory, "keys.json");
  const add = async () => (await flarewire(["keys", "add", "--file", file])).stdout.trim();
  const key = await add();
  const serve = [
    "serve",
    "--keys",
    file,
    "--port",
    "0",
    "--warmup",
    "0",
    "--drain",
    "0",
    "--log-level",
    "trace",
  ];
  await using server = spawnCli([...serve, "--anonymous", "off"]);
  await server.said("stdout", "flarewire serves ");
  const base = /http:\S+/.exec(server.stdout())?.[0] ?? "";
  const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });
  const flares = async (options?: RequestInit) => (await fetch(`${base}/api/v1/flares`, options)).status;
  const ticket = async () => {
    const answer = await fetch(`${base}/api/v1/tickets`, { method: "POST", ...bearer(key) });
    return ((await answer.json()) as { ticket: string }).ticket;
  };
  expect([await flares(), await flares(bearer(key)), await flares(bearer(`${key}x`))]).toEqual([
    401, 200, 401,
  ]);
  const [used, unused] = [await ticket(), await ticket()];
  const socket = new WebSocket(
    `${base.replace("http", "ws")}/api/v1/stream?channels=flares.pro&ticket=${used}`,
  );
  await once(socket, "message");
  for (const path of [
    `flares?key=${key}`,
    `events?ticket=${used}`,
    `nothing?ticket=${unused}`,
    `events?after=${key}`,
  ]) {
    await fetch(`${base}/api/v1/${path}`, bearer(key));
  }
  const closed = once(socket, "close");
  await using tail = startInProcess(["tail", base, "--channels", "flares.pro"], {
    FLAREWIRE_CLIENT_KEY: key,
  });
  await tail.said("stderr", "following ");
  const second = await add();
  expect(await flarewire(["keys", "revoke", "--file", file, key])).toMatchObject({ code: 0 });
  expect((await closed)[0]).toBe(CLOSE_CODES.unauthorized.code);
  expect([await flares(bearer(key)), await flares(bearer(second))]).toEqual([401, 200]);
  expect(await tail.ended()).toBe(1);
  expect(tail.stderr()).toContain("closed: 4003 unauthorized: the key was revoked or has expired");
  server.child.kill("SIGTERM");
  expect(await server.ended()).toBe(0);
  const log = server.stderr();
  expect(log).toContain("closing the connections of a key");
  for (const secret of [key, second, used, unused]) expect(log).not.toContain(secret.slice(13));
  rmSync(directory, { recursive: true, force: true });
});

/** Starts a server whose first key has these options. `refused` returns the number of refusals. */
async function startKeyedGateway(onTestFinished: Finish, anonymous: "free" | "off", options: string[] = []) {
  const keys = join(newDirectory(onTestFinished), "keys.json");
  const { stdout } = await flarewire(["keys", "add", "--file", keys, ...options]);
  const config = createConfig({ keys, anonymous, port: 0, warmup: "0", logLevel: "silent" });
  const { url, stop } = await startGateway(config);
  onTestFinished(() => stop());
  const refused = async () => {
    const metrics = await (await fetch(new URL("/metrics", url))).text();
    return Number(/^flarewire_admissions_total\{outcome="refused"\} (\d+)$/m.exec(metrics)?.[1]);
  };
  return { url, key: stdout.trim(), refused };
}

test("[K2] tail without a key follows flares.free of a server with keys, and reports it without a refusal", async ({
  onTestFinished,
}) => {
  const gateway = await startKeyedGateway(onTestFinished, "free");
  await using tail = startInProcess(["tail", gateway.url]);
  await tail.said("stderr", /does not send flares\.pro: following flares\.free,newest\.bsc,status\n/);
  await tail.said("stderr", "a simulated market");
  expect(await gateway.refused()).toBe(0);
});

test("[K2] tail without a key ends at the first refusal of a server that requires one", async ({
  onTestFinished,
}) => {
  const gateway = await startKeyedGateway(onTestFinished, "off");
  const { code, stderr } = await flarewire(["tail", gateway.url]);
  expect([code, stderr]).toEqual([
    1,
    'flarewire tail: refused: HTTP 401 missing API key; send "Authorization: Bearer KEY"\n',
  ]);
  expect(await gateway.refused()).toBe(1);
});

test("[K2] tail follows with a key that may make two requests a minute", async ({ onTestFinished }) => {
  const gateway = await startKeyedGateway(onTestFinished, "off", ["--requests-per-minute", "2"]);
  await using tail = startInProcess(["tail", gateway.url], { FLAREWIRE_CLIENT_KEY: gateway.key });
  await tail.said("stderr", /following .*, a simulated market|refused/);
  expect(tail.stderr()).not.toContain("refused");
});

test("[K2] tail names the default channels that a limited key lacks once it follows the others, and ends if only the status is left", async ({
  onTestFinished,
}) => {
  const withChannels = async (channels: string) => {
    const gateway = await startKeyedGateway(onTestFinished, "off", ["--channels", channels]);
    return startInProcess(["tail", gateway.url], { FLAREWIRE_CLIENT_KEY: gateway.key });
  };
  await using some = await withChannels("newest.bsc,charts.*");
  await some.said("stderr", "flarewire tail: following ");
  expect(some.stderr().split("\n")[0]).toBe(
    "flarewire tail: the key does not include flares.pro, flares.free, status: following newest.bsc",
  );
  await using none = await withChannels("charts.bsc");
  expect(await none.ended()).toBe(1);
  expect(none.stderr()).toBe(
    "flarewire tail: the key includes none of the default channels; name its channels with --channels\n",
  );
});

test("tail rejects a malformed key without printing it", async () => {
  const { code, stderr } = await flarewire(["tail"], { FLAREWIRE_CLIENT_KEY: "two words" });
  expect(code).toBe(1);
  expect(stderr).toContain("FLAREWIRE_CLIENT_KEY must be a key from npm run flarewire -- keys add,");
  expect(stderr).not.toContain("two words");
});

test("a server with an invalid key file does not start and reports the reason", async () => {
  const config = createConfig({ keys: "package.json", port: 0, warmup: "0", logLevel: "silent" });
  await expect(startGateway(config)).rejects.toThrow(/package\.json: .*keys/);
});
