import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/lib/time/clock.ts";
import { createConfig, startGateway } from "../../src/index.ts";
import { runInProcess } from "../app/cli/run-in-process.ts";
import { spawnCli } from "../app/cli/spawn-cli.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { freePort } from "../support/servers/free-port.ts";
import { pumpedSettings } from "../support/world/pumped-market.ts";

const QUIET = { port: 0, logLevel: "silent", drain: "0", compression: false } as const;
/** A fast market of few tokens and many flares. */
const PUMPED = { ...QUIET, ...pumpedSettings() } as const;

function newDirectory(onTestFinished: (fn: () => void) => void): string {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-kept-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test("a program that embeds the gateway stores nothing on disk by default", () => {
  expect(createConfig().data).toBe("none");
});

test("by default serve stores its events below the user's state directory, with separate files for each source", async ({
  onTestFinished,
}) => {
  const home = newDirectory(onTestFinished);
  const environment = { FLAREWIRE_DATA: "", XDG_STATE_HOME: home };
  for (const args of [
    ["--warmup", "1m"],
    ["--feed", "replay", "--warmup", "0"],
  ]) {
    await using cli = spawnCli(["serve", "--port", "0", ...args], environment);
    await cli.said("stdout", "\n");
    cli.child.kill("SIGTERM");
    expect(await cli.ended()).toBe(0);
  }
  const files = readdirSync(join(home, "flarewire")).toSorted();
  expect(files.map((file) => file.replace(/-[0-9a-f]{12}\.sqlite$/, ""))).toEqual([
    ...["events", "events", "history", "history", "minutes", "minutes"],
  ]);
});

test("[L2] a gateway that polls an upstream resumes its epoch after a restart and publishes the changes since", async ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  const upstream = await startGateway(createConfig({ ...PUMPED, speed: 300 }));
  onTestFinished(() => upstream.stop());
  const edgeConfig = createConfig({
    ...{ ...QUIET, port: await freePort(), data: directory },
    ...{ source: upstream.url, pollInterval: "100ms" },
  });
  const edge = await startGateway(edgeConfig);
  onTestFinished(() => edge.stop());
  const client = new IndependentClient(edge.url);
  await client.connect();
  await client.until(() => client.seq > 20);
  await edge.stop();
  await client.until(() => client.closeCode !== undefined);
  const again = await startGateway(edgeConfig);
  onTestFinished(() => again.stop());
  const before = client.seq;
  await client.connect();
  expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
  await client.until(() => client.seq > before + 20);
  await expectOneState(again.url, client);
  expect(client.resets).toBe(1);
});

test("[W28] [L3] a client with a filter resumes after a restart, because the earlier matches of its items are stored", async ({
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  const config = createConfig({ ...PUMPED, port: await freePort(), speed: 2_000, data });
  const first = await startGateway(config);
  onTestFinished(() => first.stop());
  const filter = new URLSearchParams({ channels: "charts.bsc", min_price_change: "3" });
  const client = new IndependentClient(first.url);
  // A busy machine may need longer for the first snapshot than a start waits.
  await expect.poll(() => first.head.ready).toBe(true);
  await client.connect(filter);
  await client.until(() => client.received.events.length > 10);
  await first.stop();
  await client.until(() => client.closeCode !== undefined);
  const again = await startGateway(config);
  onTestFinished(() => again.stop());
  await expect.poll(() => again.head.ready).toBe(true);
  await client.connect(filter);
  expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
  // The client throws if a change does not fit its state.
  await client.until(() => client.received.events.length > 20);
});

test("[L3] a simulated market that is killed resumes its epoch, and so does its client; a market with another seed has its own log", async ({
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  const port = await freePort();
  const args = ["--warmup", "2m", "--drain", "0", "--data", data, "--port", `${port}`, "--seed", "7"];
  const killed = spawnCli(["serve", ...args, "--speed", "60"]);
  onTestFinished(() => void killed.child.kill("SIGKILL"));
  await killed.said("stdout", "\n");
  const url = /http:\/\/[\d.]+:\d+/.exec(killed.stdout())?.[0] ?? "";
  const client = new IndependentClient(url);
  await client.connect();
  await client.until(() => client.seq > 3);
  killed.child.kill("SIGKILL");
  await client.until(() => client.closeCode !== undefined);
  await killed.ended();
  const reported = client.seq;
  const serve = async (seed: number) => {
    const market = { ...QUIET, warmup: "2m", seed, speed: 60, data, port };
    const lines: string[] = [];
    const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
    const gateway = await startGateway(createConfig(market), { logger });
    onTestFinished(() => gateway.stop());
    return { gateway, logText: () => lines.join("") };
  };
  const second = await serve(7);
  await client.connect();
  expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
  await client.until(() => client.seq > reported + 3);
  await expectOneState(url, client);
  expect(client.resets).toBe(1);
  await second.gateway.stop();
  const third = await serve(8);
  expect(third.logText()).toContain("starting a new log");
  const cursor = client.cursor;
  await client.connect();
  expect(client.received.answers.at(-1)).toMatchObject({ lost: { reason: "epoch-changed" } });
  await third.gateway.stop();
  // The first seed's log is unchanged.
  await serve(7);
  client.cursor = cursor;
  await client.connect();
  expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
});

test("a simulated market that was down longer than it catches up starts a new epoch and logs the reason", async ({
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  const config = createConfig({ ...QUIET, warmup: "1m", data });
  const epochs: string[] = [];
  for (const downMs of [0, 50 * 60_000, 190 * 60_000]) {
    const lines: string[] = [];
    const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
    const clock = { ...systemClock, now: () => systemClock.now() + downMs };
    const gateway = await startGateway(config, { clock, logger });
    await expect.poll(() => gateway.freshness().state).toBe("live");
    epochs.push(gateway.head.cursor.epoch);
    await gateway.stop();
    const why =
      /starting a new epoch: the simulated market was down for \d+ minutes, and can catch up on at most 60/;
    expect(lines.some((line) => why.test(line))).toBe(downMs > 100 * 60_000);
  }
  expect(epochs[1]).toBe(epochs[0]);
  expect(epochs[2]).not.toBe(epochs[0]);
});

/** Reads the parts of `/readyz` and the metric that report a lost data directory. */
async function lostDataOf(url: string) {
  const answer = await fetch(`${url}/readyz`);
  const { state, reason } = (await answer.json()) as { state: string; reason: string };
  const [, gauge] = /^flarewire_data_lost (\d)$/m.exec(await (await fetch(`${url}/metrics`)).text()) ?? [];
  return { status: answer.status, state, reason, gauge };
}

const LOST_DATA = {
  status: 200,
  state: "live",
  reason: "events are held in memory only: a restart begins a new epoch",
  gauge: "1",
};

test("serve starts without its default data directory if that is unusable; /readyz and a metric report it", async ({
  onTestFinished,
}) => {
  const file = join(newDirectory(onTestFinished), "file");
  writeFileSync(file, "");
  const args = ["serve", "--port", "0", "--warmup", "0"];
  await using cli = spawnCli(args, { FLAREWIRE_DATA: "", XDG_STATE_HOME: file });
  await cli.said("stdout", "\n");
  const url = /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "";
  await expect.poll(() => lostDataOf(url)).toEqual(LOST_DATA);
});

test.each([
  ["the flag", (data: string) => ({ args: ["--data", data], environment: {} })],
  ["the environment", (data: string) => ({ args: [], environment: { FLAREWIRE_DATA: data } })],
])("serve exits with code 1 if the data directory from %s is unusable", async (_name, given) => {
  const file = join(newDirectory(onTestFinished), "file");
  writeFileSync(file, "");
  const { args, environment } = given(join(file, "below"));
  const { code, stdout, stderr } = await runInProcess(["serve", "--port", "0", ...args], environment);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(`data = ${file}/below cannot be used (`);
  expect(stderr).toContain(
    "choose a directory that this user can write to, or set data = none to hold events in memory only",
  );
});

test.each(["removed", "moved"])(
  "if the data directory is %s while the gateway runs, /readyz, a metric and the log report it, and clients are still served",
  async (how) => {
    const data = newDirectory(onTestFinished);
    const logged: string[] = [];
    const logger = pino({ base: null }, { write: (line) => void logged.push(line) });
    const config = createConfig({ ...PUMPED, data });
    const gateway = await startGateway(config, { logger });
    onTestFinished(() => gateway.stop());
    await expect.poll(() => lostDataOf(gateway.url)).toMatchObject({ state: "live", reason: "", gauge: "0" });
    const client = new IndependentClient(gateway.url);
    await client.connect();
    if (how === "removed") rmSync(data, { recursive: true });
    else renameSync(data, `${data}-moved`);
    await expect.poll(() => lostDataOf(gateway.url)).toEqual(LOST_DATA);
    expect(logged.filter((line) => line.includes("it was removed, moved or replaced"))).toHaveLength(1);
    const { seq } = client;
    await client.until(() => client.seq > seq + 10);
    await client.disconnect();
    rmSync(`${data}-moved`, { recursive: true, force: true });
  },
);

test("a failed start releases the data directory", async ({ onTestFinished }) => {
  const data = newDirectory(onTestFinished);
  const other = await startGateway(createConfig({ ...QUIET, warmup: "0s" }));
  onTestFinished(() => other.stop());
  const config = createConfig({ ...QUIET, warmup: "0s", data, port: Number(new URL(other.url).port) });
  await expect(startGateway(config)).rejects.toMatchObject({ code: "invalid-setting", field: "port" });
  const gateway = await startGateway({ ...config, port: 0 });
  await gateway.stop();
});
