import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createConfig } from "../../src/app/config/config.ts";
import { startGateway } from "../../src/app/serve.ts";
import { systemClock } from "../../src/base/lib/time/clock.ts";
import { HOUR_MS } from "../../src/base/lib/time/time.ts";
import type { MarketEvent } from "../../src/base/market/index.ts";
import { NETWORKS } from "../../src/feeds/chain/networks.ts";
import { ReplayFeed } from "../../src/feeds/replay/replay-feed.ts";
import { type RunningCli, spawnCli } from "../app/cli/spawn-cli.ts";
import { E18, Exchange } from "../feeds/chain/market/exchange.ts";
import { describeOnAnvil } from "../feeds/chain/nodes/anvil.ts";
import { FaultyNode } from "../feeds/chain/nodes/faulty-node.ts";
import { wallet } from "../feeds/chain/nodes/test-chain.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { shownLists } from "../support/expect/shown-lists.ts";
import { expectAllStored } from "../support/expect/stored-seqs.ts";
import { checkedFetch } from "../support/expect/validate-response.ts";
import { freePort } from "../support/servers/free-port.ts";
import { eventually } from "../support/time/waiters.ts";
import { Story, truthOf } from "./chain-story.ts";

const WALLETS = 8;

/** Creates a token on an exchange, and funded wallets, before a gateway connects. */
async function openMarket(): Promise<Story> {
  // Recent enough for a gateway to resume.
  const startS = Math.floor((Date.now() - 2 * HOUR_MS) / 1_000);
  const exchange = await Exchange.openAs(NETWORKS.bsc, startS);
  const { chain, coin } = exchange;
  const token = await exchange.token("RISE coin", "RISE");
  for (let number = 0; number < WALLETS; number++) {
    await exchange.approve(wallet(number), coin);
    await exchange.approve(wallet(number), token);
    await chain.endow(coin, wallet(number), 1_000n * E18);
    await chain.endow(token, wallet(number), 100_000n * E18);
  }
  for (let block = 0; block < 5; block++) await chain.mine();
  return new Story(exchange, token);
}

/**
 * Mines blocks at an interval of `seconds`, each with trades of two wallets, then the blocks that
 * finalize them.
 */
async function tradeBlocks(story: Story, blocks: number, seconds: number): Promise<void> {
  const { chain } = story.exchange;
  for (let count = 0; count < blocks; count++) {
    const by = (count * 7) % (WALLETS - 1);
    const orders = [
      { by, units: E18 / 10n + BigInt(count) },
      { by: by + 1, units: -(100n + BigInt(count)) * E18 },
    ];
    await story.trade(orders, seconds);
  }
  for (let block = 0; block < 4; block++) await chain.mine();
}

/** Starts a gateway process on the chain. */
async function serve(rpc: string, flags: readonly string[], port = "0") {
  const args = ["serve", "--feed", "chain", "--rpc", rpc, "--warmup", "0", "--port", port, "--drain", "0"];
  // The test polls `/readyz` dozens of times a second.
  const limits = ["--anonymous-requests", "none"];
  const cli = spawnCli([...args, ...limits, "--stale-after", "1s", "--heartbeat", "1s", ...flags]);
  await cli.said("stdout", "\n");
  return { cli, url: /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "" };
}

/** Reads `/readyz`: its status, the age of the data in seconds, and the event time. */
async function probe(url: string) {
  const { status, headers } = await checkedFetch(`${url}/readyz`);
  const observedAt = headers.get("flarewire-observed-at");
  return {
    status,
    age: Number(headers.get("flarewire-data-age")),
    observedMs: observedAt === null ? 0 : Date.parse(observedAt),
  };
}

type Probe = Awaited<ReturnType<typeof probe>>;

/** Polls `/readyz` until the response matches. Returns that response. */
async function untilProbe(url: string, matches: (response: Probe) => boolean): Promise<Probe> {
  let response = await probe(url);
  const check = async () => {
    response = await probe(url);
    return matches(response);
  };
  await eventually(check, () => response);
  return response;
}

/** Returns all events of the only recording in the directory. */
async function readRecording(directory: string): Promise<readonly MarketEvent[]> {
  const events: MarketEvent[] = [];
  const [name = ""] = readdirSync(directory);
  const path = join(directory, name);
  const feed = new ReplayFeed({ path, speed: Number.POSITIVE_INFINITY, clock: systemClock });
  for await (const event of feed.events(new AbortController().signal)) events.push(event);
  return events;
}

/** Expects the same state from REST, the client, and an engine that reads the ledger. */
async function expectTruth(url: string, client: IndependentClient, story: Story, beganMs: number) {
  const { json } = await checkedFetch(`${url}/api/v1/snapshot`);
  const { cursor: _, observed_at: at, ...lists } = json as Record<string, unknown>;
  const atMs = Date.parse(String(at));
  const truth = truthOf(story.ledger.events, beganMs, atMs).get(atMs);
  expect(lists).toEqual(truth && shownLists(truth));
  await expectOneState(url, client);
}

function newDirectory(onTestFinished: (fn: () => void) => void): string {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-chain-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describeOnAnvil("a gateway of a chain with failures", () => {
  test("[L3] [L5] five minutes without the endpoint: the age and /readyz report it throughout, and afterwards no event is missing or repeated", async ({
    onTestFinished,
  }) => {
    const story = await openMarket();
    await using chain = story.exchange.chain;
    await using node = await new FaultyNode(chain.url).start();
    const directory = newDirectory(onTestFinished);
    const { cli, url } = await serve(node.url, ["--record", directory]);
    await using _running: RunningCli = cli;
    await untilProbe(url, ({ status }) => status === 200);
    const { observedMs: beganMs } = await probe(url);
    const client = new IndependentClient(url);
    await client.connect();
    await story.list(story.token, "RISE", 1_000_000n * E18, 200n * E18);
    await tradeBlocks(story, 10, 6);
    await untilProbe(url, ({ observedMs }) => observedMs >= story.atMs - 4_000);

    node.fault = { kind: "down" };
    const cutMs = (await untilProbe(url, ({ status }) => status === 503)).observedMs;
    const fromMs = story.atMs;
    const outage: Probe[] = [];
    for (let minute = 0; minute < 5; minute++) {
      await tradeBlocks(story, 10, 6);
      outage.push(await probe(url));
    }
    expect(story.atMs - fromMs).toBeGreaterThanOrEqual(300_000);
    outage.push(await untilProbe(url, ({ age }) => age > (outage[0]?.age ?? 0) + 1));
    expect(outage.map(({ status }) => status)).toEqual(outage.map(() => 503));
    expect(outage.map(({ observedMs }) => observedMs)).toEqual(outage.map(() => cutMs));
    const ages = outage.map(({ age }) => age);
    expect(ages).toEqual(ages.toSorted((a, b) => a - b));
    const freshness = client.received.heartbeats.at(-1)?.freshness;
    expect(freshness).toMatchObject({ state: "stale", observed_at: new Date(cutMs).toISOString() });

    node.fault = { kind: "none" };
    await tradeBlocks(story, 5, 6);
    const untilMs = story.atMs - 4_000;
    await untilProbe(url, ({ status, observedMs }) => status === 200 && observedMs >= untilMs);
    await expectTruth(url, client, story, beganMs);
    await client.disconnect();
    cli.child.kill("SIGTERM");
    expect(await cli.ended()).toBe(0);
    const events = await readRecording(directory);
    expect(events.filter((event) => "token" in event)).toEqual(story.ledger.events);
    const clocks = events.flatMap(({ kind, at }) => (kind === "clock" ? [at] : []));
    expect(clocks).toEqual(clocks.map((_, index) => (clocks[0] ?? 0) + index * 1_000));
  });

  test("[L3] a gateway that was stopped or killed catches up with the chain: its client resumes without a gap or repeat, or gets a reset after a long outage", async ({
    onTestFinished,
  }) => {
    const story = await openMarket();
    await using chain = story.exchange.chain;
    const flags = ["--data", newDirectory(onTestFinished)];
    const [, data = ""] = flags;
    const port = await freePort();
    const config = {
      feed: "chain",
      rpc: chain.url,
      warmup: "0",
      data,
      port,
      drain: "0",
      logLevel: "silent",
    } as const;
    // An advanced clock makes the first gateway save its state in the middle of the trades.
    let aheadMs = 0;
    const aging = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
    const first = await startGateway(createConfig(config), { clock: aging });
    onTestFinished(() => first.stop());
    const { url } = first;
    const { observedMs: beganMs } = await untilProbe(url, ({ observedMs }) => observedMs > 0);
    const client = new IndependentClient(url);
    await client.connect();
    await story.list(story.token, "RISE", 1_000_000n * E18, 200n * E18);
    for (let part = 0; part < 2; part++) {
      await tradeBlocks(story, 4, 6);
      await untilProbe(url, ({ observedMs }) => observedMs >= story.atMs - 4_000);
      aheadMs += HOUR_MS;
    }
    await first.stop();
    await client.until(() => client.closeCode !== undefined);
    let { cli } = await serve(chain.url, flags, `${port}`);
    onTestFinished(() => void cli.child.kill("SIGKILL"));
    await client.connect();
    expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
    // Stay within three minutes of the stored state: after a longer outage it would start at the
    // present.
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      await tradeBlocks(story, 8, 3);
      const reachedMs = story.atMs - 4_000;
      // Stop once after all trades are read, and once while they are being read.
      if (signal === "SIGTERM") await untilProbe(url, ({ observedMs }) => observedMs >= reachedMs);
      const reported = client.seq;
      cli.child.kill(signal);
      await client.until(() => client.closeCode !== undefined);
      await cli.ended();
      await tradeBlocks(story, 8, 3);
      ({ cli } = await serve(chain.url, flags, `${port}`));
      await client.connect();
      expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
      expect(client.seq).toBeGreaterThanOrEqual(reported);
    }
    await untilProbe(url, ({ status, observedMs }) => status === 200 && observedMs >= story.atMs - 4_000);
    await expectTruth(url, client, story, beganMs);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const rejected = [...metrics.matchAll(/^flarewire_rejected_market_events_total\{.*\} (\d+)$/gm)];
    expect(rejected.length).toBeGreaterThan(0);
    expect(rejected.map(([, count]) => count)).toEqual(rejected.map(() => "0"));
    expect(client.resets).toBe(1);
    expect(client.received.errors).toEqual([]);
    await expectAllStored(url, client.received.events);
    cli.child.kill("SIGTERM");
    await client.until(() => client.closeCode !== undefined);
    expect(await cli.ended()).toBe(0);

    // After a longer outage than it catches up with: a new epoch, and a reset for a resuming
    // client.
    const clock = { ...systemClock, now: () => story.atMs + 7 * HOUR_MS };
    const gateway = await startGateway(createConfig(config), { clock });
    onTestFinished(() => gateway.stop());
    await client.connect();
    expect(client.received.answers.at(-1)).toMatchObject({
      resumed: "reset",
      lost: { reason: "epoch-changed" },
    });
    await client.disconnect();
  });
});
