import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyOf, Snapshot } from "../../../src/base/model/index.ts";
import { applyEvent, LIST_CHANNEL_NAMES, listOf, type View } from "../../../src/base/protocol/index.ts";
import { UpstreamDoubt } from "../../../src/feeds/upstream/upstream-doubt.ts";
import { RESOURCES, type Resource } from "../../../src/feeds/upstream/upstream-resources.ts";
import { toEvents } from "../../../src/gateway/source/events.ts";
import { lawRuns, shareOf } from "../../support/law-runs.ts";
import { arbitrarySnapshot } from "../../support/random/arbitraries.ts";
import { SAMPLE_BSC_CHART_ITEM, SAMPLE_EXPLANATION } from "../../support/world/samples.ts";
import { flareOf, MARKET_AT, type Market, marketOf, range } from "../../support/world/upstream-market.ts";

const OBSERVED_MS = Date.parse(MARKET_AT);

/** An upstream whose responses the test plays. */
class Answers {
  readonly doubt = new UpstreamDoubt();
  nowMs = 0;
  believed: Snapshot | undefined;
  ends = 0;

  /** Plays a response after `stepMs`. Returns the accepted state. */
  take(snapshot: Snapshot, stepMs = 1_000, answered: readonly Resource[] = RESOURCES): Snapshot {
    this.nowMs += stepMs;
    const before = this.believed;
    const answer = { snapshot, observedAtMs: OBSERVED_MS, answered, nowMs: this.nowMs };
    const { snapshot: after } = this.doubt.believe(before, answer);
    const events = before ? toEvents(before, after, OBSERVED_MS) : [];
    this.ends += events.filter(({ name }) => name === "flare-finished").length;
    this.believed = after;
    return after;
  }

  get reason(): string | undefined {
    return this.doubt.reason(this.nowMs);
  }
}

const running = (market: Snapshot) => market.flares.pro.map(({ id }) => Number(id.slice(-12)));
const SMALL = { running: [1, 2, 3], free: [2, 3], finished: [1_001, 1_002], newest: [7] } satisfies Market;

describe("an item that the upstream stops listing, without a reason", () => {
  test.each([
    ["three responses, if they are slow", 10_000, 3],
    ["2.5 s, at one a second", 1_000, 4],
    ["2.5 s, if they are fast", 100, 26],
  ])("is gone after %s", (_what, stepMs, answers) => {
    const upstream = new Answers();
    upstream.take(marketOf(SMALL));
    const without = marketOf({ ...SMALL, running: [1, 3], free: [3] });
    for (let answer = 1; answer < answers; answer += 1)
      expect(running(upstream.take(without, stepMs))).toEqual([1, 2, 3]);
    const after = upstream.take(without, stepMs);
    expect([running(after), after.flares.free.length, upstream.ends]).toEqual([[1, 3], 1, 2]);
    expect(upstream.reason).toBeUndefined();
  });

  test("is never removed while at most two consecutive responses lack it, regardless of their duration", () => {
    const gaps = fc.array(fc.record({ lacks: fc.nat(2), stepMs: fc.integer({ min: 1, max: 600_000 }) }), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(gaps, (steps) => {
        const upstream = new Answers();
        const whole = upstream.take(marketOf(SMALL));
        for (const { lacks, stepMs } of steps) {
          for (let lack = 0; lack < lacks; lack += 1)
            expect(upstream.take(marketOf({}), stepMs)).toEqual(whole);
          expect(upstream.take(marketOf(SMALL), stepMs)).toEqual(whole);
        }
      }),
      lawRuns(25, 100),
    );
  });

  test("stays while only copies of an earlier response lack it", () => {
    const upstream = new Answers();
    upstream.take(marketOf(SMALL));
    const without = marketOf({ ...SMALL, running: [1, 3], free: [3] });
    upstream.take(without);
    for (let poll = 0; poll < 10; poll += 1)
      expect(running(upstream.take(without, 1_000, ["newest", "charts"]))).toEqual([1, 2, 3]);
    upstream.take(without);
    expect(running(upstream.take(without))).toEqual([1, 3]);
  });

  test("stays for a minute if many others disappear with it, and the reason is reported", () => {
    const upstream = new Answers();
    upstream.take(marketOf({ running: range(0, 20) }));
    const half = marketOf({ running: range(10, 20) });
    for (let poll = 0; poll < 60; poll += 1) {
      expect(running(upstream.take(half))).toEqual(range(0, 20));
      expect(upstream.reason).toContain("flares.pro");
    }
    expect(running(upstream.take(half))).toEqual(range(10, 20));
    expect(upstream.reason).toContain("flares.pro");
    upstream.take(half, 2_501);
    expect(upstream.reason).toBeUndefined();
  });

  test("stays for a minute if four disappear and none is left, and the doubt lasts for 2.5 s after them", () => {
    const upstream = new Answers();
    upstream.take(marketOf({ running: [1, 2, 3, 4] }));
    for (let poll = 0; poll < 60; poll += 1)
      expect(running(upstream.take(marketOf({})))).toEqual([1, 2, 3, 4]);
    expect(running(upstream.take(marketOf({})))).toEqual([]);
    upstream.nowMs += 2_500;
    expect(upstream.reason).toContain("flares.pro");
    upstream.nowMs += 1;
    expect(upstream.reason).toBeUndefined();
    // Three may disappear at once.
    const few = new Answers();
    few.take(marketOf({ running: [1, 2, 3] }));
    for (let poll = 0; poll < 4; poll += 1) few.take(marketOf({}));
    expect([running(few.believed ?? marketOf(SMALL)), few.reason]).toEqual([[], undefined]);
  });

  test("stays after the same item as before", () => {
    const upstream = new Answers();
    upstream.take(marketOf({ running: [1, 2, 3, 4, 5] }));
    expect(running(upstream.take(marketOf({ running: [9, 5, 3, 8] })))).toEqual([1, 2, 9, 5, 3, 4, 8]);
  });
});

describe("an absence that has a reason counts at once", () => {
  const gone = (next: Snapshot, before = marketOf(SMALL)) => {
    const upstream = new Answers();
    upstream.take(before);
    return upstream.take(next);
  };

  test("a flare is listed as finished", () => {
    const next = marketOf({ ...SMALL, running: [], free: [], finished: [1, 2, 3, 1_001, 1_002] });
    expect(gone(next).flares).toEqual(next.flares);
  });

  test("a listing is older than 15 minutes", () => {
    const old = marketOf({ ...SMALL, newest: [7, 1_400] });
    expect(gone(marketOf({ ...SMALL, newest: [7] }), old).newest.bsc).toHaveLength(1);
    expect(gone(marketOf({ ...SMALL, newest: [1_400] }), old).newest.bsc).toHaveLength(2);
  });

  test("a flare leaves the free list with a warning", () => {
    const next = marketOf({ ...SMALL, free: [3] });
    const warned = { ...SAMPLE_EXPLANATION, warnings: ["liquidity"] };
    const explanations = { ...next.explanations, [flareOf(2).id]: warned };
    expect(gone({ ...next, explanations }).flares.free).toHaveLength(1);
    expect(gone(next).flares.free).toHaveLength(2);
  });

  test("a token is displaced in a chart, but a chart does not empty", () => {
    const chartOf = (...numbers: readonly number[]) => {
      const bsc = numbers.map((number) => {
        const { id, token } = flareOf(number);
        return { ...SAMPLE_BSC_CHART_ITEM, id, flare: { ...SAMPLE_BSC_CHART_ITEM.flare, token } };
      });
      return { ...marketOf(SMALL), charts: { ...marketOf(SMALL).charts, bsc } };
    };
    expect(gone(chartOf(2), chartOf(1)).charts).toEqual(chartOf(2).charts);
    expect(gone(chartOf(), chartOf(1)).charts).toEqual(chartOf(1).charts);
  });
});

describe("a flare that has ended", () => {
  test("does not start again if a replica that is behind lists it as running", () => {
    const upstream = new Answers();
    upstream.take(marketOf(SMALL));
    const ended = marketOf({ ...SMALL, running: [1, 3], free: [3], finished: [2, 1_001, 1_002] });
    const behind = marketOf(SMALL);
    for (let poll = 0; poll < 200; poll += 1) {
      const { flares } = upstream.take(poll % 7 === 0 ? ended : behind);
      expect(flares).toEqual(ended.flares);
    }
    expect(upstream.ends).toBe(3);
  });

  test.each(shareOf([45, 10, 900, 300, 90]))(
    "that disappears and returns every %d s, with others, ends a few times and then no longer",
    (seconds) => {
      const upstream = new Answers();
      const replicas = [marketOf({ running: range(0, 10) }), marketOf({ running: range(5, 10) })] as const;
      const switches = 20;
      for (let second = 0; second < switches * seconds; second += 1)
        upstream.take(replicas[Math.floor(second / seconds) % 2 === 0 ? 0 : 1]);
      expect(upstream.ends).toBeLessThanOrEqual(seconds > 60 ? 5 : 0);
    },
  );
});

test("[L1] for any responses of an upstream, the accepted state is valid, and events lead from each state to the next", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(arbitrarySnapshot, fc.nat(5))), (answers) => {
      const upstream = new Answers();
      for (const [snapshot, times] of answers) {
        for (let time = 0; time <= times; time += 1) {
          const before = upstream.believed;
          const after = upstream.take(snapshot);
          expect(Snapshot.safeParse(after).error).toBeUndefined();
          if (!before) continue;
          const view = toEvents(before, after, OBSERVED_MS).reduce<View>(applyEvent, before);
          expect(view).toEqual(after);
        }
      }
    }),
    lawRuns(8, 20),
  );
});

test("a response that stays the same is accepted completely after a minute", () => {
  const numbers = fc.uniqueArray(fc.nat(30), { maxLength: 12 });
  const market = fc.record({ running: numbers, newest: numbers, draw: fc.nat(2) }).map((given) => ({
    ...given,
    free: given.running.filter((number) => number % 2 === 0),
    finished: range(0, 31).filter((number) => number % 3 === 0 && !given.running.includes(number)),
  }));
  fc.assert(
    fc.property(fc.array(market, { minLength: 1, maxLength: 6 }), (markets) => {
      const upstream = new Answers();
      for (const each of markets) upstream.take(marketOf(each));
      const last = marketOf(markets.at(-1) ?? {});
      for (let poll = 0; poll < 130; poll += 1) upstream.take(last);
      const numbersOf = (snapshot: Snapshot) =>
        LIST_CHANNEL_NAMES.map((channel) => listOf(snapshot, channel).map((item) => keyOf(item).slice(-12)));
      expect(numbersOf(upstream.believed ?? marketOf({}))).toEqual(numbersOf(last));
      expect(upstream.reason).toBeUndefined();
    }),
    lawRuns(4, 10),
  );
});

test("ids that change with each response change nothing", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(999), { minLength: 1, maxLength: 20 }), (draws) => {
      const upstream = new Answers();
      const first = upstream.take(marketOf(SMALL));
      for (const draw of draws) expect(upstream.take(marketOf({ ...SMALL, draw }))).toEqual(first);
    }),
    lawRuns(25, 100),
  );
});

test("no list has more than 10,000 items, even if an upstream replaces all items in each response", () => {
  const upstream = new Answers();
  for (let poll = 0; poll < 3; poll += 1) {
    const newest = range(poll * 6_000, (poll + 1) * 6_000).map((number) => number / 100);
    const { bsc } = marketOf({ newest: newest.map((number) => number * 100) }).newest;
    const recent = bsc.map((listing) => ({ ...listing, listed_at: MARKET_AT }));
    upstream.take({ ...marketOf({}), newest: { bsc: recent } });
  }
  expect(upstream.believed?.newest.bsc).toHaveLength(10_000);
});
