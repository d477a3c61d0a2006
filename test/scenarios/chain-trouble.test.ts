import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createConfig } from "../../src/config/config.ts";
import { NETWORKS, ReplayFeed } from "../../src/feed/index.ts";
import { startGateway } from "../../src/gateway/app.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { HOUR_MS } from "../../src/lib/time/time.ts";
import type { MarketEvent } from "../../src/market/index.ts";
import { type RunningCli, spawnCli } from "../cli/spawn-cli.ts";
import { E18, Exchange } from "../feed/chain/market/exchange.ts";
import { describeOnAnvil } from "../feed/chain/nodes/anvil.ts";
import { FaultyNode } from "../feed/chain/nodes/faulty-node.ts";
import { wallet } from "../feed/chain/nodes/test-chain.ts";
import { IndependentClient } from "../support/independent-client.ts";
import { expectOneState } from "../support/one-state.ts";
import { shownLists } from "../support/shown-lists.ts";
import { expectAllStored } from "../support/stored-seqs.ts";
import { checkedFetch } from "../support/validate-response.ts";
import { eventually } from "../support/waiters.ts";
import { Story, truthOf } from "./chain-story.ts";

const WALLETS = 8;

/** A token on the chain of a real exchange, and wallets that trade in it, before anybody looks. */
async function openMarket(): Promise<Story> {
  // Not so long ago that a gateway would start over.
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
 * This many blocks, each with trades of two wallets, this many seconds apart; at last those that
 * make them final.
 */
async function tradeOn(story: Story, blocks: number, seconds: number): Promise<void> {
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

/** A gateway's process on the chain, and a client that is there from its first snapshot on. */
async function serve(rpc: string, flags: readonly string[], port = "0") {
  const args = ["serve", "--feed", "chain", "--rpc", rpc, "--warmup", "0", "--port", port, "--drain", "0"];
  // The probe asks dozens of times a second.
  const room = ["--anonymous-requests", "none"];
  const cli = spawnCli([...args, ...room, "--stale-after", "1s", "--heartbeat", "1s", ...flags]);
  await cli.said("stdout", "\n");
  return { cli, url: /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "" };
}

/** What the probe says: its status, the age of the data in seconds, and up to where it is. */
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

/** Asks until it is so; yields the last answer. */
async function probed(url: string, isSo: (said: Probe) => boolean): Promise<Probe> {
  let said = await probe(url);
  const isThere = async () => {
    said = await probe(url);
    return isSo(said);
  };
  await eventually(isThere, () => said);
  return said;
}

/** Everything that the one recording in the directory holds. */
async function recorded(directory: string): Promise<readonly MarketEvent[]> {
  const events: MarketEvent[] = [];
  const [name = ""] = readdirSync(directory);
  const path = join(directory, name);
  const feed = new ReplayFeed({ path, speed: Number.POSITIVE_INFINITY, clock: systemClock });
  for await (const event of feed.events(new AbortController().signal)) events.push(event);
  return events;
}

/** REST, the client and an engine that is given the ledger hold one state. */
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

describeOnAnvil("a chain's gateway in trouble", () => {
  test("[L3] [L5] five minutes of the chain without its endpoint: age and /readyz say so all along, then nothing is missing and nothing twice", async ({
    onTestFinished,
  }) => {
    const story = await openMarket();
    await using chain = story.exchange.chain;
    await using node = await new FaultyNode(chain.url).start();
    const directory = newDirectory(onTestFinished);
    const { cli, url } = await serve(node.url, ["--record", directory]);
    await using _running: RunningCli = cli;
    await probed(url, ({ status }) => status === 200);
    const { observedMs: beganMs } = await probe(url);
    const client = new IndependentClient(url);
    await client.connect();
    await story.list(story.token, "RISE", 1_000_000n * E18, 200n * E18);
    await tradeOn(story, 10, 6);
    await probed(url, ({ observedMs }) => observedMs >= story.atMs - 4_000);

    node.fault = { kind: "down" };
    const cutMs = (await probed(url, ({ status }) => status === 503)).observedMs;
    const fromMs = story.atMs;
    const outage: Probe[] = [];
    for (let minute = 0; minute < 5; minute++) {
      await tradeOn(story, 10, 6);
      outage.push(await probe(url));
    }
    expect(story.atMs - fromMs).toBeGreaterThanOrEqual(300_000);
    outage.push(await probed(url, ({ age }) => age > (outage[0]?.age ?? 0) + 1));
    expect(outage.map(({ status }) => status)).toEqual(outage.map(() => 503));
    expect(outage.map(({ observedMs }) => observedMs)).toEqual(outage.map(() => cutMs));
    const ages = outage.map(({ age }) => age);
    expect(ages).toEqual(ages.toSorted((a, b) => a - b));
    const said = client.received.heartbeats.at(-1)?.freshness;
    expect(said).toMatchObject({ state: "stale", observed_at: new Date(cutMs).toISOString() });

    node.fault = { kind: "none" };
    await tradeOn(story, 5, 6);
    const untilMs = story.atMs - 4_000;
    await probed(url, ({ status, observedMs }) => status === 200 && observedMs >= untilMs);
    await expectTruth(url, client, story, beganMs);
    await client.disconnect();
    cli.child.kill("SIGTERM");
    expect(await cli.ended()).toBe(0);
    const events = await recorded(directory);
    expect(events.filter((event) => "token" in event)).toEqual(story.ledger.events);
    const clocks = events.flatMap(({ kind, at }) => (kind === "clock" ? [at] : []));
    expect(clocks).toEqual(clocks.map((_, index) => (clocks[0] ?? 0) + index * 1_000));
  });

  test("[L3] stopped, and killed, in the middle of a chain, a gateway catches up on what it missed: its client resumes without hole or repeat, or gets a reset", async ({
    onTestFinished,
  }) => {
    const story = await openMarket();
    await using chain = story.exchange.chain;
    const flags = ["--data", newDirectory(onTestFinished)];
    const [, data = ""] = flags;
    const config = {
      feed: "chain",
      rpc: chain.url,
      warmup: "0",
      data,
      drain: "0",
      logLevel: "silent",
    } as const;
    // The first one lives, as it believes, long enough to keep its state in the midst of the
    // trades.
    let aheadMs = 0;
    const aging = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
    const first = await startGateway(createConfig({ ...config, port: 0 }), { clock: aging });
    onTestFinished(() => first.stop());
    const { url } = first;
    const { observedMs: beganMs } = await probed(url, ({ observedMs }) => observedMs > 0);
    const client = new IndependentClient(url);
    await client.connect();
    await story.list(story.token, "RISE", 1_000_000n * E18, 200n * E18);
    for (let part = 0; part < 2; part++) {
      await tradeOn(story, 4, 6);
      await probed(url, ({ observedMs }) => observedMs >= story.atMs - 4_000);
      aheadMs += HOUR_MS;
    }
    await first.stop();
    await client.until(() => client.closeCode !== undefined);
    let { cli } = await serve(chain.url, flags, new URL(url).port);
    onTestFinished(() => void cli.child.kill("SIGKILL"));
    await client.connect();
    expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
    // Within three minutes of the stored state: after a longer time it would start at the present.
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      await tradeOn(story, 8, 3);
      const reachedMs = story.atMs - 4_000;
      // Once when all is read, once in the midst of it.
      if (signal === "SIGTERM") await probed(url, ({ observedMs }) => observedMs >= reachedMs);
      const reported = client.seq;
      cli.child.kill(signal);
      await client.until(() => client.closeCode !== undefined);
      await cli.ended();
      await tradeOn(story, 8, 3);
      ({ cli } = await serve(chain.url, flags, new URL(url).port));
      await client.connect();
      expect(client.received.answers.at(-1)).toMatchObject({ resumed: "full" });
      expect(client.seq).toBeGreaterThanOrEqual(reported);
    }
    await probed(url, ({ status, observedMs }) => status === 200 && observedMs >= story.atMs - 4_000);
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

    // Away for longer than is made up for: a new epoch, and a client that resumes gets a reset.
    const clock = { ...systemClock, now: () => story.atMs + 7 * HOUR_MS };
    const gateway = await startGateway(createConfig({ ...config, port: Number(new URL(url).port) }), {
      clock,
    });
    onTestFinished(() => gateway.stop());
    await client.connect();
    expect(client.received.answers.at(-1)).toMatchObject({
      resumed: "reset",
      lost: { reason: "epoch-changed" },
    });
    await client.disconnect();
  });
});
