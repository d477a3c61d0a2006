import fc from "fast-check";
import { expect, test } from "vitest";
import { checkpointOf, EngineCheckpoints, restoreEngine } from "../../src/app/data/engine-checkpoints.ts";
import type { MarketEvent, MarketGroup } from "../../src/base/market/index.ts";
import { type Flare, GROUPS, keyOf, Snapshot, whyText } from "../../src/base/model/index.ts";
import { TrendEngine } from "../../src/engine/index.ts";
import { IS_SOAK, lawRuns } from "../support/law-runs.ts";
import { crowdOf, playScripts } from "./trade-market.ts";
import {
  address,
  candlePath,
  createRandom,
  decimal,
  drive,
  HOUR,
  liquidity,
  MINUTE,
  profile,
  quietMarket,
  report,
  SECOND,
  START,
  trade,
  withClocks,
} from "./trend-kit.ts";

const MINUTES = 75;
/** Low thresholds, so that the short and random markets below flare often. */
const EAGER = {
  settings: {
    candleStartScore: 1,
    tradeStartScore: 1,
    startActivity: 0,
    candleWarmUp: 5,
    fadeMs: 2 * MINUTE,
  },
};
/** Unbiased, because biased runs first try the ends of each range, and cut markets there. */
const RUNS = { ...lawRuns(1, 3), unbiased: !IS_SOAK };
/** Only every n-th snapshot is checked against the schema, which takes longer than the engine. */
const SCHEMA_EVERY = 15;
/** Only some snapshots are compared byte by byte, which takes longer than the engine. */
const isCompared = (atMs: number) => IS_SOAK || (atMs / SECOND) % 7 === 0;

/** Creates a busy market of all groups: pumped trades and candles, removals, noise, garbage. */
function marketOf(seed: number, minutes = MINUTES): MarketEvent[] {
  const random = createRandom(seed);
  const at = () => START + Math.floor(random() * MINUTES * MINUTE);
  const pumped = Array.from({ length: 5 }, (_, n) => {
    const from = Math.floor(random() * (MINUTES - 10));
    const isHot = (minute: number) => minute >= from && minute < from + 8;
    return {
      token: address(n + 1),
      rate: (minute: number) => (isHot(minute) ? 15 : 1.5),
      buyShare: (minute: number) => (isHot(minute) ? 0.85 : 0.5),
    };
  });
  const candles = Array.from({ length: 4 }, (_, n) => {
    const from = Math.floor(random() * MINUTES);
    const path = (minute: number) => (minute > from && minute < from + 15 ? 1.15 : 1);
    return candlePath(address(200 + n), MINUTES, random, path, (minute) => (minute > from ? 5 : 1));
  });
  const others = GROUPS.flatMap((group) => noiseOf(group, random));
  const reports = Array.from({ length: 3 }, (_, n) => reportsOf(address(400 + n), random)).flat();
  const troubles = Array.from({ length: 6 }, () => [
    liquidity(at(), address(1 + Math.floor(random() * 5)), decimal(random() * 20_000), "remove"),
    profile(at(), address(1 + Math.floor(random() * 5)), {
      contractSource: random() < 0.5 ? "verified" : "unverified",
    }),
    trade(at(), address(1), { price: "NaN" }),
  ]);
  const events = [
    ...playScripts([...crowdOf(3), ...pumped], MINUTES, seed),
    ...quietMarket(3, MINUTES, random),
  ];
  const all = [...events, ...candles.flat(), ...others, ...reports, ...troubles.flat()];
  return withClocks(all, START + minutes * MINUTE, START - 3_000);
}

/**
 * Creates an aggregator's reports with a pump, sometimes on another pool, and a first trade for one
 * token in three.
 */
function reportsOf(token: string, random: () => number): MarketEvent[] {
  const from = Math.floor(random() * MINUTES);
  const reports = Array.from({ length: MINUTES }, (_, minute): MarketEvent => {
    const isHot = minute >= from && minute < from + 8;
    const { h1, h24 } = report(START, token).counts;
    const m5 = {
      buys: isHot ? 50 : 3,
      sells: 3,
      buyers: isHot ? 40 : 2,
      sellers: 2,
      usd: isHot ? "4000" : "60",
    };
    return report(START + minute * MINUTE + Math.floor(random() * MINUTE), token, {
      price: decimal(isHot ? 1.2 : 1 + random() * 0.01),
      liquidity: decimal(90_000 + random() * 20_000),
      counts: { m5, h1, h24 },
      pool: random() < 0.1 ? "other" : `pool-${token}`,
    });
  });
  const last = START + (MINUTES - 5) * MINUTE;
  return random() < 0.3 ? [...reports, trade(last, token), trade(last + MINUTE, token)] : reports;
}

function noiseOf(group: MarketGroup, random: () => number): MarketEvent[] {
  const name = (n: number) => (group === "exchange" ? `X${n}` : address(300 + n));
  return Array.from({ length: 3 }, (_, n) => [
    profile(START, name(n), { group }),
    ...candlePath(
      name(n),
      MINUTES,
      random,
      (minute) => 1 + minute * n * 0.001,
      () => 1,
      { group },
    ),
  ]).flat();
}

const seeds = fc.integer({ min: 1, max: 1_000_000 });

function isOrdered(list: readonly Flare[]): boolean {
  const order = (flare: Flare) => [-Date.parse(flare.started_trending_at), flare.token.address] as const;
  return list.every((flare, index) => {
    const next = list[index + 1];
    if (!next) return true;
    const [a, b] = [order(flare), order(next)];
    return a[0] < b[0] || (a[0] === b[0] && a[1] <= b[1]);
  });
}

function expectSchema(snapshot: Snapshot): void {
  expect(Snapshot.parse(snapshot)).toStrictEqual(snapshot);
}

function expectLaws(snapshot: Snapshot): void {
  const { free, pro, finished_trending } = snapshot.flares;
  const ids = (list: readonly Flare[]) => list.map(({ id }) => id);
  expect([free, pro, finished_trending].map(isOrdered)).toEqual([true, true, true]);
  expect(ids(pro)).toEqual(expect.arrayContaining(ids(free)));
  expect(ids(pro).filter((id) => ids(finished_trending).includes(id))).toEqual([]);
  expect(pro.every((flare) => flare.finished_trending_at === null)).toBe(true);
  expect(finished_trending.every((flare) => flare.finished_trending_at !== null)).toBe(true);
  expect(Object.keys(snapshot.explanations).sort()).toEqual([...ids(pro), ...ids(finished_trending)].sort());
  const explained = [...pro, ...finished_trending].map(({ id, liquidity: usd }) => {
    const why = snapshot.explanations[id];
    return { text: why?.text, expected: why && whyText(why, usd) };
  });
  expect(explained.filter(({ text, expected }) => text !== expected)).toEqual([]);
  const lists = GROUPS.flatMap((group) => [snapshot.charts[group], snapshot.leaderboards[group]]);
  const all = [...lists, free, pro, finished_trending, snapshot.newest.bsc];
  expect(all.map((list) => new Set(list.map(keyOf)).size)).toEqual(all.map(({ length }) => length));
}

test("every snapshot of any market satisfies its schema and the rules of its lists, and each explanation's text follows from its numbers", () => {
  let started = 0;
  fc.assert(
    fc.property(seeds, (seed) => {
      let count = 0;
      const last = drive(new TrendEngine(EAGER), marketOf(seed), (snapshot) => {
        expectLaws(snapshot);
        count += 1;
        if (count % SCHEMA_EVERY === 0) expectSchema(snapshot);
      });
      expectSchema(last);
      started += last.flares.pro.length + last.flares.finished_trending.length;
    }),
    RUNS,
  );
  expect(started).toBeGreaterThan(RUNS.numRuns);
});

test("[L4] equal events result in equal bytes, regardless of when and how often a snapshot is taken", () => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: 1, max: 50 }), (seed, often) => {
      const events = marketOf(seed);
      const [polled, other] = [new TrendEngine(EAGER), new TrendEngine(EAGER)];
      let count = 0;
      for (const event of events) {
        polled.accept(event);
        other.accept(event);
        count += 1;
        if (count % often === 0) other.snapshot();
        if (event.kind !== "clock" || event.at % (5 * MINUTE) !== 0) continue;
        expect(JSON.stringify(other.snapshot())).toBe(JSON.stringify(polled.snapshot()));
      }
    }),
    RUNS,
  );
});

test("[L4] an engine restored from any checkpoint continues with identical bytes", () => {
  fc.assert(
    fc.property(seeds, fc.nat(1_000), (seed, thousandths) => {
      const events = marketOf(seed);
      const cut = Math.floor((events.length * thousandths) / 1_000);
      const uninterrupted = new TrendEngine(EAGER);
      drive(uninterrupted, events.slice(0, cut));
      const text = JSON.stringify(checkpointOf(uninterrupted));
      const restored = restoreEngine(JSON.parse(text), EAGER);
      expect(JSON.stringify(checkpointOf(restored))).toBe(text);
      expect(JSON.stringify(restored.snapshot())).toBe(JSON.stringify(uninterrupted.snapshot()));
      const continued = (engine: TrendEngine) => {
        const seen: string[] = [];
        drive(engine, events.slice(cut), (snapshot, at) =>
          seen.push(isCompared(at) ? `${at}${JSON.stringify(snapshot)}` : `${at}`),
        );
        return seen;
      };
      expect(continued(restored)).toEqual(continued(uninterrupted));
      expect(JSON.stringify(checkpointOf(restored))).toBe(JSON.stringify(checkpointOf(uninterrupted)));
    }),
    RUNS,
  );
});

test("[L4] a checkpoint whose slices are packed while the engine continues is the state at its beginning", () => {
  let changed = 0;
  fc.assert(
    fc.property(seeds, fc.nat(1_000), fc.integer({ min: 1, max: 150 }), (seed, thousandths, seconds) => {
      const events = marketOf(seed).filter(({ at }) => at < START + MINUTES * MINUTE);
      const clocks = events.flatMap(({ kind }, index) => (kind === "clock" ? [index + 1] : []));
      const first = Math.floor(((clocks.length - 1) * thousandths) / 1_000);
      const [from = 0, until = events.length] = [clocks[first], clocks[first + seconds]];
      const engine = new TrendEngine(EAGER);
      drive(engine, events.slice(0, from));
      const expected = JSON.stringify(checkpointOf(engine));
      const begun = new EngineCheckpoints(engine).begin();
      drive(engine, events.slice(from, until));
      const checkpoint = { ...begun, slices: [...begun.slices] };
      expect(JSON.stringify(checkpointOf(restoreEngine(checkpoint, EAGER)))).toBe(expected);
      changed += JSON.stringify(checkpointOf(engine)) === expected ? 0 : 1;
    }),
    { ...RUNS, numRuns: RUNS.numRuns * 4 },
  );
  expect(changed).toBeGreaterThan(0);
});

test("before an event that ends a minute, a begun checkpoint is packed slice by slice", () => {
  const engine = new TrendEngine(EAGER);
  drive(engine, marketOf(5, 20));
  const expected = checkpointOf(engine);
  const checkpoints = new EngineCheckpoints(engine);
  const begun = checkpoints.begin();
  const next = { kind: "clock", at: engine.clockMs + MINUTE } as const;
  expect(checkpoints.packBefore({ ...next, at: engine.clockMs + SECOND })).toBe(false);
  while (checkpoints.packBefore(next));
  engine.accept(next);
  const restored = restoreEngine({ ...begun, slices: [...begun.slices] }, EAGER);
  expect(JSON.stringify(checkpointOf(restored))).toBe(JSON.stringify(expected));
});

test("beginning another checkpoint abandons the one before, and slices may not be missing", () => {
  const engine = new TrendEngine(EAGER);
  drive(engine, marketOf(5, 5));
  const checkpoints = new EngineCheckpoints(engine);
  const [abandoned, begun] = [checkpoints.begin(), checkpoints.begin()];
  expect(() => [...abandoned.slices]).toThrow("another checkpoint");
  expect([...begun.slices].length).toBeGreaterThan(0);
  expect(() => restoreEngine({ ...begun, slices: [] }, EAGER)).toThrow("0 of ");
});

test("a snapshot never changes before nextChangeAtMs", () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const engine = new TrendEngine(EAGER);
      let before = engine.snapshot();
      for (const event of marketOf(seed)) {
        const promised = engine.nextChangeAtMs;
        engine.accept(event);
        if (event.kind !== "clock") continue;
        const after = engine.snapshot();
        if (after !== before) expect(promised).toBeLessThanOrEqual(event.at);
        before = after;
      }
    }),
    RUNS,
  );
});

test("unchanged parts of two snapshots are the same objects", () => {
  const engine = new TrendEngine(EAGER);
  let before = engine.snapshot();
  const shared = { lists: 0, items: 0 };
  drive(engine, marketOf(7, IS_SOAK ? MINUTES : 40), (snapshot) => {
    for (const list of ["free", "pro", "finished_trending"] as const) {
      const [a, b] = [before.flares[list], snapshot.flares[list]];
      if (JSON.stringify(a) === JSON.stringify(b)) {
        expect(b).toBe(a);
        shared.lists += 1;
      }
      const known = new Map(a.map((flare) => [JSON.stringify(flare), flare]));
      for (const flare of b) {
        const same = known.get(JSON.stringify(flare));
        if (same === undefined) continue;
        expect(flare).toBe(same);
        shared.items += 1;
      }
    }
    if (JSON.stringify(before.charts) === JSON.stringify(snapshot.charts))
      expect(snapshot.charts).toBe(before.charts);
    before = snapshot;
  });
  expect(Math.min(shared.lists, shared.items)).toBeGreaterThan(50);
});

test("when event time jumps by years, all flares end and the engine does not hang", () => {
  const engine = new TrendEngine(EAGER);
  expect(drive(engine, marketOf(3, 30)).flares.pro.length).toBeGreaterThan(0);
  engine.accept({ kind: "clock", at: START + 7_000 * 365 * 24 * HOUR });
  expect(engine.tokenCount).toBe(0);
  expect(engine.snapshot().flares).toEqual({ free: [], pro: [], finished_trending: [] });
  expect(engine.nextChangeAtMs).toBe(Number.POSITIVE_INFINITY);
});
