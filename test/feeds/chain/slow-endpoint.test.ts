import { describe, expect, test } from "vitest";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/lib/time/time.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { createChainFeed } from "../../../src/feeds/chain/chain-feed.ts";
import { NETWORKS } from "../../../src/feeds/chain/networks.ts";
import { LATE_MS } from "../../../src/feeds/merge/merge-feeds.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { ChainEndpoint } from "../../support/world/chain-endpoint.ts";
import { SyntheticChain } from "../../support/world/synthetic-chain.ts";

const START_MS = Date.UTC(2026, 0, 1);
const SLOW_FOR_MS = MINUTE_MS;
const NEVER = Number.POSITIVE_INFINITY;
const DENSITY = { pools: 4, swaps: 2, pairs: 20, others: 0 };

interface Seen {
  readonly event: MarketEvent;
  /** Age of the event when it arrived, in milliseconds. */
  readonly ageMs: number;
}

/**
 * Follows BSC for a minute by `count` endpoints. From the time at which the feed has caught up, the
 * first one responds `delayMs` later than the others.
 */
async function followWithSlow(count: number, delayMs: number) {
  const clock = new PacedClock(12, START_MS);
  const chain = new SyntheticChain("bsc", DENSITY, () => clock.now());
  const opening = Array.from({ length: count }, (_, index) =>
    ChainEndpoint.open(chain, clock, index + 1, false),
  );
  const endpoints = await Promise.all(opening);
  const [slow] = endpoints.map(({ node }) => node);
  if (!slow) throw new Error("no endpoint");
  const usual = slow.answer;
  const stop = new AbortController();
  const notices: string[] = [];
  const reasons = new Set<string>();
  const seen: Seen[] = [];
  try {
    const urls = endpoints.map(({ node }) => node.url);
    const notify = (_level: string, sentence: string) => void notices.push(sentence);
    const feed = createChainFeed({
      network: NETWORKS.bsc,
      urls,
      clock,
      backfillMs: 5 * SECOND_MS,
      notify,
    });
    let sinceMs = NEVER;
    for await (const event of feed.events(stop.signal)) {
      const ageMs = clock.now() - event.at;
      if (sinceMs === NEVER && event.kind === "trade" && ageMs < 3 * SECOND_MS) {
        sinceMs = event.at + SECOND_MS;
        slow.answer = async (method, params) => {
          // Longer than the test, and short enough for a timer.
          await clock.sleep(Math.min(delayMs, 1e9), stop.signal);
          return (await usual?.(method, params)) ?? { status: 500 };
        };
      }
      if (event.at < sinceMs) continue;
      reasons.add(feed.trouble?.() ?? "");
      if (event.at >= sinceMs + SLOW_FOR_MS || clock.now() >= sinceMs + 3 * SLOW_FOR_MS) break;
      if (event.kind === "trade") seen.push({ event, ageMs });
    }
    const first = chain.head - Math.ceil((clock.now() - sinceMs + SECOND_MS) / chain.blockMs);
    const numbers = Array.from({ length: chain.head - first + 1 }, (_, index) => first + index);
    const isWithin = (at: number) => at >= sinceMs && at < sinceMs + SLOW_FOR_MS;
    const expected = numbers
      .filter((number) => isWithin(chain.atMs(number)))
      .flatMap((number) =>
        chain.tradesOf(number).map(({ token, side }) => `${chain.atMs(number)} ${token} ${side}`),
      );
    const [service] = feed.services?.() ?? [];
    return { seen, expected, notices, reasons, slow: service, host: new URL(slow.url).host };
  } finally {
    stop.abort();
    for (const endpoint of endpoints) await endpoint[Symbol.asyncDispose]();
  }
}

const keyOf = ({ event }: Seen) =>
  event.kind === "trade" ? `${event.at} ${event.token} ${event.side}` : event.kind;

describe("a chain that is followed while one endpoint takes longer", () => {
  test.each([
    [3, 3],
    [3, 8],
    [3, NEVER],
    [2, 8],
  ])(
    "loses, repeats and delays no trade, and names the endpoint: of %i endpoints one takes %d s more",
    async (count, delayS) => {
      const { seen, expected, ...run } = await followWithSlow(count, delayS * SECOND_MS);
      expect(expected.length).toBeGreaterThan(200);
      expect(seen.map(keyOf).toSorted()).toEqual(expected.toSorted());
      const late = seen.filter(({ ageMs }) => ageMs > LATE_MS);
      expect(late.length / expected.length).toBeLessThanOrEqual(0.02);
      const slowness = `${run.host} takes more than 3 s to answer`;
      expect([...run.reasons]).toContain(slowness);
      expect(run.notices.filter((notice) => notice === slowness).length).toBeLessThanOrEqual(1);
      expect(run.slow?.latencyMs).toBeGreaterThan(2 * SECOND_MS);
    },
  );
});
