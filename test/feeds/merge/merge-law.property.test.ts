import fc from "fast-check";
import { expect } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { LATE_MS, mergeFeeds } from "../../../src/feeds/merge/merge-feeds.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { test } from "../../support/time/still-running.ts";
import { SECOND, START, ToldFeed } from "./told-feed.ts";

/**
 * Returns a part's events: in each second some before the clock, like candles, and some after it,
 * like blocks.
 */
function marketOf(
  group: "bsc" | "matic" | "exchange",
  seed: readonly (readonly [number, number])[],
): MarketEvent[] {
  return seed.flatMap(([before, behind], second) => {
    const at = START + second * SECOND;
    const profile = (time: number, index: number): MarketEvent => ({
      kind: "profile",
      at: time,
      group,
      token: `${group}-${index}`,
    });
    return [
      ...Array.from({ length: before }, (_, index) => profile(at, index)),
      { kind: "clock", at } as const,
      ...Array.from({ length: behind }, (_, index) => profile(at + (index % 2) * 500, index)).toSorted(
        (a, b) => a.at - b.at,
      ),
    ];
  });
}

const Seeds = fc.array(fc.tuple(fc.nat(2), fc.nat(3)), { minLength: 1, maxLength: 12 });
const Markets = fc
  .tuple(Seeds, Seeds, Seeds)
  .map(([a, b, c]) => [marketOf("bsc", a), marketOf("matic", b), marketOf("exchange", c)] as const);

/** Computes the expected order independently: sorts all events by position. */
function ordered(markets: readonly (readonly MarketEvent[])[]): MarketEvent[] {
  const positioned = markets.flatMap((events, part) => {
    let clockAt = Number.NEGATIVE_INFINITY;
    return events.map((event) => {
      if (event.kind === "clock") clockAt = event.at;
      const phase = event.kind === "clock" ? 1 : event.at > clockAt ? 0 : 2;
      return { event, part, phase };
    });
  });
  positioned.sort((a, b) => a.event.at - b.event.at || a.phase - b.phase || a.part - b.part);
  const seen = new Set<number>();
  return positioned.flatMap(({ event }): MarketEvent[] => {
    if (event.kind !== "clock") return [event];
    if (seen.has(event.at)) return [];
    seen.add(event.at);
    return [event];
  });
}

test("[L4] the order depends on the events of the parts, not on their arrival", async () => {
  await fc.assert(
    fc.asyncProperty(Markets, fc.infiniteStream(fc.nat(2)), async (markets, turns) => {
      const feeds = markets.map((_, part) => new ToldFeed(`part-${part}`));
      const parts = feeds.map((feed) => ({ name: feed.name, feed }));
      const merged = mergeFeeds({ name: "all", parts, clock: new ManualClock() });
      const reported: MarketEvent[] = [];
      const reading = (async () => {
        for await (const event of merged.events(new AbortController().signal)) reported.push(event);
      })();
      const left = markets.map((events) => [...events]);
      while (left.some(({ length }) => length > 0)) {
        const [turn = 0] = turns.take(1);
        const event = left[turn]?.shift();
        if (event) feeds[turn]?.tell(event);
        if (turn === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      for (const feed of feeds) feed.end();
      await reading;
      expect(reported).toEqual(ordered(markets));
    }),
    { numRuns: 60 },
  );
});

test("[L4] despite outages nothing is emitted twice, clocks only advance, and dropped events are counted", async () => {
  const Cuts = fc.array(fc.record({ part: fc.nat(2), events: fc.nat(8), waitMs: fc.nat(20_000) }), {
    maxLength: 60,
  });
  await fc.assert(
    fc.asyncProperty(Markets, Cuts, async (markets, cuts) => {
      const clock = new ManualClock();
      const feeds = markets.map((_, part) => new ToldFeed(`part-${part}`));
      const parts = feeds.map((feed) => ({ name: feed.name, feed }));
      const merged = mergeFeeds({ name: "all", parts, clock });
      const reported: MarketEvent[] = [];
      const reading = (async () => {
        for await (const event of merged.events(new AbortController().signal)) reported.push(event);
      })();
      const left = markets.map((events) => [...events]);
      for (const { part, events, waitMs } of cuts) {
        feeds[part]?.tell(...(left[part]?.splice(0, events) ?? []));
        await new Promise((resolve) => setImmediate(resolve));
        clock.advance(waitMs);
        await new Promise((resolve) => setImmediate(resolve));
      }
      for (const [part, events] of left.entries()) {
        feeds[part]?.tell(...events);
        feeds[part]?.end();
      }
      await reading;
      const clocks = reported.flatMap(({ kind, at }) => (kind === "clock" ? [at] : []));
      expect(clocks).toEqual([...new Set(clocks)].toSorted((a, b) => a - b));
      const given = markets.flat().filter(({ kind }) => kind !== "clock");
      // Profiles only: each is emitted at its own time or, beyond the bound, at the clock's.
      expect(reported.length - clocks.length).toBe(given.length);
      let clockAt = 0;
      for (const event of reported) {
        if (event.kind === "clock") clockAt = event.at;
        expect(event.at).toBeGreaterThanOrEqual(clockAt - LATE_MS);
      }
    }),
    { numRuns: 60 },
  );
});
