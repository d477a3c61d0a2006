import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLogger } from "../../src/app/server/create-logger.ts";
import { createConfig, startGateway } from "../../src/index.ts";
import { type RunningCli, spawnCli } from "../app/cli/spawn-cli.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { expectAllStored } from "../support/expect/stored-seqs.ts";
import { freePort } from "../support/servers/free-port.ts";
import { pumpedFlags, pumpedSettings } from "../support/world/pumped-market.ts";

/** Number of kills. KILLS sets more for longer runs. */
const KILLS = Number(process.env.KILLS ?? 1);
/** Fast, so that a kill interrupts the writing of batches. */
const SPEED = "2000";

const MARKET = [...pumpedFlags(), "--loop", "--warmup", "1h", "--no-compression"];

function newDirectory(onTestFinished: (fn: () => void) => void): string {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-kill-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function serve(
  directory: string,
  port: number,
  ...args: string[]
): Promise<{ cli: RunningCli; url: string }> {
  const cli = spawnCli(["serve", ...MARKET, "--port", `${port}`, "--data", directory, ...args]);
  await cli.said("stdout", "\n");
  return { cli, url: /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "" };
}

const logged = (cli: Pick<RunningCli, "stderr">, message: string) =>
  cli
    .stderr()
    .trim()
    .split("\n")
    .map((line): { msg: string; seq?: number } => JSON.parse(line))
    .find(({ msg }) => msg.includes(message));

test(`[L3] killed ${KILLS === 1 ? "once" : `${KILLS} times`} while it writes, a gateway resumes its epoch: its client resumes with no gap and no repeat, and has the state that REST serves`, {
  timeout: 600_000 + KILLS * 20_000,
}, async ({ onTestFinished }) => {
  const directory = newDirectory(onTestFinished);
  const port = await freePort();
  let { cli, url } = await serve(directory, port, "--speed", SPEED);
  onTestFinished(() => void cli.child.kill("SIGKILL"));
  const client = new IndependentClient(url);
  await client.connect();
  const epochs = new Set([client.received.hellos.at(-1)?.epoch]);
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const target = client.seq + 20 + ((kill * 37) % 90);
    await client.until(() => client.seq >= target);
    cli.child.kill("SIGKILL");
    await client.until(() => client.closeCode !== undefined);
    await cli.ended();
    const reported = client.seq;
    ({ cli } = await serve(directory, port, "--speed", SPEED));
    await cli.said("stderr", "resuming the stored log");
    expect(logged(cli, "resuming the stored log")?.seq).toBeGreaterThanOrEqual(reported);
    await client.connect();
    expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
    epochs.add(client.received.hellos.at(-1)?.epoch);
    await expectOneState(url, client);
  }
  await client.until(() => client.received.events.some(({ name }) => name === "flare-finished"));
  await expectOneState(url, client);
  expect(epochs.size).toBe(1);
  expect(client.resets).toBe(1);
  expect(client.received.errors).toEqual([]);
  // The client itself throws at a gap or repeat. This compares all its events with the stored ones.
  await expectAllStored(url, client.received.events);
});

/** Starts a gateway in this process and collects its log lines. */
async function serveHere(onTestFinished: (fn: () => Promise<void>) => void, settings: object) {
  const lines: string[] = [];
  const logger = createLogger("info", { write: (line) => void lines.push(line) });
  const config = createConfig({ ...pumpedSettings(), speed: 1, compression: false, drain: "0", ...settings });
  const gateway = await startGateway(config, { logger });
  onTestFinished(() => gateway.stop());
  return { gateway, stderr: () => lines.join("") };
}

test("[L3] a gateway that is stopped and restarted resumes its epoch; with other engine settings it starts a new one and logs the reason", async ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  const port = await freePort();
  const first = await serve(directory, port, "--drain", "0");
  onTestFinished(() => void first.cli.child.kill("SIGKILL"));
  const client = new IndependentClient(first.url);
  await client.connect();
  first.cli.child.kill("SIGTERM");
  expect(await first.cli.ended()).toBe(0);

  const second = await serveHere(onTestFinished, { port, data: directory, speed: 120 });
  await client.connect();
  expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
  await second.gateway.stop();
  await client.until(() => client.closeCode !== undefined);

  const third = await serveHere(onTestFinished, { port, data: directory, refresh: "10s" });
  expect(logged(third, "starting a new epoch")?.msg).toContain(
    "the engine's settings differ from those of the log (refreshMs)",
  );
  await client.connect();
  expect(client.received.answers.at(-1)).toMatchObject({
    resumed: "reset",
    lost: { reason: "epoch-changed" },
  });
});

test("a second gateway on the same directory and source exits with code 75: try again later", async ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  const first = await serveHere(onTestFinished, { port: 0, data: directory });
  // The rejected start in this process must leave the file locked.
  await expect(serveHere(onTestFinished, { port: 0, data: directory })).rejects.toThrow(/is in use by/);
  await using second = spawnCli(["serve", ...MARKET, "--port", "0", "--data", directory]);
  expect(await second.ended()).toBe(75);
  const pid = process.platform === "linux" ? ` (pid ${process.pid})` : "";
  expect(second.stderr()).toContain(`is in use by another process${pid}; it may still be stopping: wait, or`);
  expect((await fetch(`${first.gateway.url}/healthz`)).status).toBe(200);
});
