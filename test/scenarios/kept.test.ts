import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createConfig, startGateway } from "../../src/index.ts";
import { spawnCli } from "../cli/spawn-cli.ts";
import { IndependentClient } from "../support/independent-client.ts";
import { expectOneState } from "../support/one-state.ts";

const QUIET = { port: 0, logLevel: "silent", drain: "0" } as const;

function newDirectory(onTestFinished: (fn: () => void) => void): string {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-kept-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test("a program that embeds the gateway keeps nothing on the disk unless it is told to", () => {
  expect(createConfig().data).toBe("none");
});

test("by default serve keeps its events below the user's state directory, each source in a file of its own", async ({
  onTestFinished,
}) => {
  const home = newDirectory(onTestFinished);
  const environment = { FLAREWIRE_DATA: "", XDG_STATE_HOME: home };
  const dead = ["--source", "http://127.0.0.1:9"];
  for (const args of [[], dead]) {
    await using cli = spawnCli(["serve", "--port", "0", ...args], environment);
    await cli.said("stdout", "\n");
    cli.child.kill("SIGTERM");
    expect(await cli.ended()).toBe(0);
  }
  const files = readdirSync(join(home, "flarewire"));
  expect(files).toHaveLength(2);
  for (const file of files) expect(file).toMatch(/^events-[0-9a-f]{12}\.sqlite$/);
});

test("[L2] a gateway that mirrors an upstream goes on in its epoch, with what changed meanwhile as events", async ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  const recording = { ...QUIET, feed: "replay", warmup: "0s", speed: 2_000 } as const;
  const upstream = await startGateway(createConfig(recording));
  onTestFinished(() => upstream.stop());
  const edgeConfig = createConfig({ ...QUIET, source: upstream.url, pollInterval: "100ms", data: directory });
  const edge = await startGateway(edgeConfig);
  onTestFinished(() => edge.stop());
  const client = new IndependentClient(edge.url);
  await client.connect();
  await client.until(() => client.seq > 20);
  await edge.stop();
  await client.until(() => client.closeCode !== undefined);
  const again = await startGateway({ ...edgeConfig, port: Number(new URL(edge.url).port) });
  onTestFinished(() => again.stop());
  const before = client.seq;
  await client.connect();
  expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
  await client.until(() => client.seq > before + 20);
  await expectOneState(again.url, client);
  expect(client.resets).toBe(1);
});

test("[W28] [L3] a client with a filter resumes over a restart: what its items met before is kept", async ({
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  const config = createConfig({ ...QUIET, feed: "replay", warmup: "0s", speed: 2_000, data });
  const first = await startGateway(config);
  onTestFinished(() => first.stop());
  const filter = new URLSearchParams({ channels: "charts.exchange", min_price_change: "3" });
  const client = new IndependentClient(first.url);
  await client.connect(filter);
  await client.until(() => client.received.events.length > 30);
  await first.stop();
  await client.until(() => client.closeCode !== undefined);
  const again = await startGateway({ ...config, port: Number(new URL(first.url).port) });
  onTestFinished(() => again.stop());
  await client.connect(filter);
  expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
  // The client throws at a change that does not fit what it holds.
  await client.until(() => client.received.events.length > 60);
});

test("the simulated market begins with each start: its clients are told of a new epoch, and the operator why", async ({
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  const args = ["serve", "--port", "0", "--warmup", "0", "--drain", "0", "--data", data];
  const epochs: unknown[] = [];
  for (const start of [1, 2]) {
    await using cli = spawnCli(args);
    await cli.said("stdout", "\n");
    const client = new IndependentClient(/http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "");
    await client.connect();
    epochs.push(client.received.hellos.at(-1)?.epoch);
    if (start === 2) expect(cli.stderr()).toContain("a new epoch begins: the simulated market cannot go on");
    cli.child.kill("SIGTERM");
    expect(await cli.ended()).toBe(0);
  }
  expect(new Set(epochs).size).toBe(2);
});

test("a data directory that cannot be had is no reason not to serve, and whoever asks for the state is told", async ({
  onTestFinished,
}) => {
  const file = join(newDirectory(onTestFinished), "file");
  writeFileSync(file, "");
  const gateway = await startGateway(createConfig({ ...QUIET, warmup: "0s", data: join(file, "below") }));
  onTestFinished(() => gateway.stop());
  await expect.poll(() => gateway.freshness().state).toBe("live");
  const answer = await fetch(`${gateway.url}/readyz`);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    state: "live",
    reason: "events are held in memory only: a restart begins a new epoch",
  });
});

test("a start that fails leaves the data directory free for the next", async ({ onTestFinished }) => {
  const data = newDirectory(onTestFinished);
  const other = await startGateway(createConfig({ ...QUIET, warmup: "0s" }));
  onTestFinished(() => other.stop());
  const config = createConfig({ ...QUIET, warmup: "0s", data, port: Number(new URL(other.url).port) });
  await expect(startGateway(config)).rejects.toMatchObject({ code: "invalid-setting", field: "port" });
  const gateway = await startGateway({ ...config, port: 0 });
  await gateway.stop();
});
