import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { HOUR_MS, SECOND_MS } from "../../../src/base/lib/time/time.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { createChainFeed } from "../../../src/feeds/chain/chain-feed.ts";
import { PRESENT_MS } from "../../../src/feeds/chain/follow-chain.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { eventually } from "../../support/time/waiters.ts";
import { Collector } from "./market/collect.ts";
import { Market } from "./market/market.ts";
import { describeOnAnvil } from "./nodes/anvil.ts";
import { FaultyNode } from "./nodes/faulty-node.ts";

interface Block {
  readonly transactions: readonly Readonly<Record<"from" | "to" | "input" | "gas", string>>[];
}

/** Mines empty blocks at a distance of `seconds`. */
async function passTime({ exchange: { chain } }: Market, blocks: number, seconds = 1): Promise<void> {
  for (let block = 0; block < blocks; block++) await chain.mine(seconds);
}

describeOnAnvil("a chain that is followed", () => {
  test("[final] a trade in a block that is replaced before it is final is never published", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    await using collector = new Collector({ network });
    await market.trade();
    await collector.reached(await market.settle());
    await market.trade(false);
    await chain.ask("anvil_reorg", [1, []]);
    await market.trade();
    await collector.reached(await market.settle());
    expect(collector.facts).toEqual(market.events);
    expect(collector.notices).toEqual([]);
  });

  test.each([
    ["the first replacement", 0],
    ["the first block after the replacements", 4],
  ])(
    "[final] trades of replaced final blocks are counted and not published again if the new chain has them in %s",
    async (_name, position) => {
      await using market = await Market.open();
      const { network: byReports, chain } = market.exchange;
      const network = { ...byReports, isFinalByDepth: true };
      await using collector = new Collector({ network });
      for (let count = 0; count < 2; count++) await market.trade();
      await collector.reached(await market.settle());
      expect(collector.facts).toEqual(market.events);
      // Each trade's block, and the three empty ones after it.
      const head = Number(await chain.ask("eth_blockNumber"));
      const transactions = [];
      for (const number of [head - 4, head - 3]) {
        const block = await chain.ask<Block>("eth_getBlockByNumber", [`0x${number.toString(16)}`, true]);
        for (const { from, to, input, gas } of block.transactions)
          transactions.push([{ from, to, data: input, gas, gasPrice: "0x0" }, position]);
      }
      expect(transactions).toHaveLength(2);
      expect(collector.feed.replaced?.()).toEqual({ [network.name]: 0 });
      await chain.ask("anvil_reorg", [5, transactions]);
      await market.trade();
      await collector.reached(await market.settle());
      expect(collector.notices.join()).toMatch(/blocks \d+ to \d+ were final but have been replaced/);
      expect(collector.feed.replaced?.()).toEqual({ [network.name]: 2 });
      // A later block reports the pool's liquidity again.
      const counts = ({ kind }: { readonly kind: string }) => position === 0 || kind === "trade";
      expect(collector.facts.filter(counts)).toEqual(market.events.filter(counts));
    },
  );

  test("[restart] after a node's restart the feed continues without loss or repetition", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    await using collector = new Collector({ network });
    await market.trade();
    await collector.reached(await market.settle());
    await chain.stop();
    await chain.start();
    await market.trade();
    await collector.reached(await market.settle());
    expect(collector.facts).toEqual(market.events);
  });

  test("[order] [resume] events are never before the last clock, nor a second after it; a feed that resumes after a clock publishes what follows, and nothing twice", async () => {
    await using market = await Market.open();
    const { network } = market.exchange;
    for (let count = 0; count < 6; count++) {
      await market.trade();
      await passTime(market, count < 3 ? count : 0);
    }
    const untilMs = await market.settle();
    await using whole = new Collector({ network });
    await whole.reached(untilMs);
    let clock = whole.events[0]?.at ?? 0;
    expect(whole.events[0]?.kind).toBe("clock");
    for (const event of whole.events) {
      if (event.kind === "clock") clock = event.at;
      expect(event.at - clock).toBeGreaterThanOrEqual(0);
      expect(event.at - clock).toBeLessThan(1_000);
    }
    const clocks = whole.events.filter(({ kind }) => kind === "clock");
    const cut = whole.events.indexOf(clocks.at(-6) ?? { kind: "clock", at: 0 });
    const resumeAfterMs = whole.events[cut]?.at ?? 0;
    await using rest = new Collector({ network, resumeAfterMs });
    await rest.reached(untilMs);
    // The token is introduced again, because the next reader may not know it.
    const known = rest.facts.filter(({ kind }) => kind !== "profile");
    expect(known).toEqual(whole.events.slice(cut).filter(({ kind }) => kind !== "clock"));
    expect(known.length).toBeGreaterThan(4);
    expect(rest.events[0]).toEqual({ kind: "clock", at: resumeAfterMs });
  });

  test("[behind] the feed says how far it is behind the newest final block until it has read it, also if a second endpoint is stuck", async () => {
    await using market = await Market.open();
    await passTime(market, 10);
    const { network, chain } = market.exchange;
    await using stuck = await new FaultyNode(chain.url).start();
    const urls = [chain.url, stuck.url];
    const feed = createChainFeed({
      network,
      urls,
      clock: systemClock,
      pollEveryMs: 100,
      backfillMs: HOUR_MS,
    });
    const stop = new AbortController();
    const events = feed.events(stop.signal)[Symbol.asyncIterator]();
    const readTo = async (untilMs: number) => {
      while (((await events.next()).value?.at ?? untilMs) < untilMs);
    };
    await readTo((chain.nextAt - 4) * SECOND_MS);
    expect(feed.behindMs?.()).toBe(0);
    for (let blocks = 1; blocks <= 100; blocks++) {
      stuck.fault = { kind: "lag", blocks };
      await chain.mine();
    }
    const behind = () => feed.behindMs?.() ?? 0;
    await eventually(() => behind() > 60 * SECOND_MS, behind);
    expect(behind()).toBeLessThan(110 * SECOND_MS);
    stuck.fault = { kind: "none" };
    await readTo((chain.nextAt - 4) * SECOND_MS);
    expect(behind()).toBe(0);
    stop.abort();
    await events.return?.();
  });

  test("[behind] a feed is behind by at most the age of its latest block, whatever head its only endpoint claims", async () => {
    await using market = await Market.open();
    await passTime(market, 10);
    const { network, chain } = market.exchange;
    await using node = await new FaultyNode(chain.url).start();
    const urls = [node.url];
    const feed = createChainFeed({
      network,
      urls,
      clock: systemClock,
      pollEveryMs: 100,
      backfillMs: HOUR_MS,
    });
    const stop = new AbortController();
    const events = feed.events(stop.signal)[Symbol.asyncIterator]();
    const latestMs = (chain.nextAt - 4) * SECOND_MS;
    while (((await events.next()).value?.at ?? latestMs) < latestMs);
    expect(feed.behindMs?.()).toBe(0);
    node.fault = { kind: "ahead", blocks: 8e15 };
    const behind = () => feed.behindMs?.() ?? 0;
    await eventually(() => behind() > 0, behind);
    expect(Date.now() - behind()).toBeGreaterThanOrEqual(latestMs - SECOND_MS);
    stop.abort();
    await events.return?.();
  });

  test.runIf(IS_SOAK)("[progress] while it catches up, the feed reports its progress", async () => {
    await using market = await Market.open();
    await passTime(market, 3, 120);
    const untilMs = await market.settle();
    const { network } = market.exchange;
    await using collector = new Collector({ network, backfillMs: 360_000 });
    await collector.reached(untilMs);
    expect(collector.notices[0]).toMatch(/^test is at block \d+, \d+ blocks \(about \d+ minutes\) behind$/);
  });

  test("[resume] the feed waits for endpoints that are behind, then continues second by second", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    for (let count = 0; count < 4; count++) await market.trade();
    await passTime(market, 1, 20);
    const resumeAfterMs = market.untilMs;
    const before = market.events.length;
    await using node = await new FaultyNode(chain.url).start();
    node.fault = { kind: "lag", blocks: 6 };
    await passTime(market, 4);
    await using collector = new Collector({ network, urls: [node.url], resumeAfterMs });
    const asked = () => [...node.asked.keys()];
    await eventually(() => asked().includes("eth_getBlockReceipts"), asked);
    await market.trade();
    const untilMs = await market.settle();
    node.fault = { kind: "none" };
    await collector.reached(untilMs);
    expect(collector.facts.filter(({ kind }) => kind !== "profile")).toEqual(market.events.slice(before));
    const clocks = collector.events.flatMap(({ kind, at }) => (kind === "clock" ? [at] : []));
    expect(clocks).toEqual(clocks.map((_, index) => resumeAfterMs + index * 1_000));
  });

  test("[start] one endpoint that claims and makes up a head far ahead does not shift the start", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    await passTime(market, 3, 60);
    await market.trade();
    const untilMs = await market.settle();
    await using liar = await new FaultyNode(chain.url).start();
    liar.fault = { kind: "invents", blocks: 2_000 };
    await using honest = await new FaultyNode(chain.url).start();
    const urls = [liar.url, honest.url];
    // Not older than the machine's clock allows.
    const clock = new PacedClock(1, chain.nextAt * 1_000);
    await using collector = new Collector({ network, urls, clock, presentMs: PRESENT_MS });
    await collector.reached(untilMs);
    expect(collector.facts).toContainEqual(market.events.findLast(({ kind }) => kind === "trade"));
  });

  test("[past] the past is read behind the present: each trade and listing once, with its own time", async () => {
    await using market = await Market.open();
    const { network, chain } = market.exchange;
    for (let count = 0; count < 3; count++) {
      await market.trade();
      await passTime(market, 1, 60);
    }
    await market.trade();
    const untilMs = await market.settle();
    await using collector = new Collector({ network, presentMs: PRESENT_MS });
    await collector.reached(untilMs);
    const { filling } = collector.feed;
    expect(filling?.()?.ofMs).toBeGreaterThan(180_000);
    const observed = () => collector.events.filter(({ kind }) => kind === "observed");
    let readMs = -1;
    const hasReadMore = () => {
      const before = readMs;
      readMs = filling?.()?.readMs ?? Number.POSITIVE_INFINITY;
      return readMs > before || readMs === Number.POSITIVE_INFINITY;
    };
    // What was read is emitted with the next block of the present, which goes before the past.
    while (observed().length < 2) {
      await expect.poll(hasReadMore).toBe(true);
      await chain.mine(1);
      await collector.reached((await market.settle()) - 1_000);
    }
    const ownTimes = collector.facts.flatMap((event): MarketEvent[] => {
      if (event.kind === "trade") {
        const { tradedAt, ...rest } = event;
        return [{ ...rest, at: tradedAt ?? event.at }];
      }
      if (event.kind !== "listing") return [];
      const { listedAt, ...rest } = event;
      return [{ ...rest, at: listedAt ?? event.at }];
    });
    const happened = market.events.filter(({ kind }) => kind === "trade" || kind === "listing");
    expect(ownTimes.filter(({ kind }) => kind === "trade").toSorted((a, b) => a.at - b.at)).toEqual(
      happened.filter(({ kind }) => kind === "trade"),
    );
    expect(ownTimes.filter(({ kind }) => kind === "listing").map(({ at }) => at)).toEqual(
      happened.filter(({ kind }) => kind === "listing").map(({ at }) => at),
    );
    expect(collector.facts.some((event) => event.kind === "trade" && event.tradedAt !== undefined)).toBe(
      true,
    );
    const times = collector.events.map(({ at }) => Math.floor(at / 1_000));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(filling?.()).toBeUndefined();
    expect(collector.notices.join()).toMatch(/reading the past of test: \d+ of \d+ s/);
    const [first, last] = observed();
    expect(first).toMatchObject({ group: "bsc" });
    expect(last?.kind === "observed" && first?.kind === "observed" && last.since < first.since).toBe(true);
  });

  test("[start] [resume] a feed starts 90 seconds before the head, however long the past is, also after a gap of more than three minutes, which it reports", async () => {
    await using market = await Market.open();
    const { network } = market.exchange;
    await market.trade();
    const resumeAfterMs = market.untilMs;
    await passTime(market, 10, 60);
    await market.trade();
    const untilMs = await market.settle();
    const trades = market.events.filter(({ kind }) => kind === "trade");
    const start = async (more: { readonly resumeAfterMs?: number }) => {
      await using collector = new Collector({ network, presentMs: PRESENT_MS, ...more });
      await collector.reached(untilMs);
      expect(collector.events[0]?.kind).toBe("clock");
      expect(collector.events[0]?.at).toBeGreaterThan(untilMs - PRESENT_MS);
      expect(collector.facts).toContainEqual(trades.at(-1));
      return collector;
    };
    const fresh = await start({});
    expect(fresh.facts).not.toContainEqual(trades[0]);
    expect(fresh.notices.join()).not.toContain("was not followed since");
    const resumed = await start({ resumeAfterMs });
    expect(resumed.notices.join()).toMatch(
      /was not followed since 20\S+Z; starting at the present and reading the past since 20\S+Z meanwhile/,
    );
  });
});
