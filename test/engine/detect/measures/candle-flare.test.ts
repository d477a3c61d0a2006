import { expect, test } from "vitest";
import { checkpointOf, restoreEngine } from "../../../../src/app/data/engine-checkpoints.ts";
import type { MarketEvent } from "../../../../src/base/market/index.ts";
import { Snapshot } from "../../../../src/base/model/index.ts";
import { type DetectorSettings, TrendEngine } from "../../../../src/engine/index.ts";
import { IS_SOAK, shareOf } from "../../../support/law-runs.ts";
import {
  address,
  candle,
  candlePath,
  createRandom,
  drive,
  MINUTE,
  profile,
  quietMarket,
  START,
  withClocks,
} from "../../trend-kit.ts";

const CANDLES_ONLY = { trades: false, liquidity: false, listings: false, profiles: false };
const TOKEN = address(1);
const PUMP_AT = IS_SOAK ? 200 : 100;
/** By this minute, a pump and its flare are over. */
const MINUTES = PUMP_AT + 100;

/** Returns a path that rises by `size` in six minutes, then falls back over half an hour. */
const pump = (size: number) => (minute: number) => {
  const since = minute - PUMP_AT;
  if (since < 0 || since > 36) return 1;
  return 1 + size * (since < 6 ? (since + 1) / 6 : 1 - (since - 5) / 31);
};
const busy = (factor: number) => (minute: number) =>
  minute >= PUMP_AT && minute < PUMP_AT + 20 ? factor : 1;

interface Seen {
  readonly starts: Map<string, number>;
  readonly ends: Map<string, number>;
}

/** Runs candles of the tested token beside a quiet market. */
function run(
  path: (minute: number) => number,
  volume: (minute: number) => number,
  minutes = MINUTES,
  settings: Partial<DetectorSettings> = {},
) {
  const random = createRandom(5);
  const events = [...quietMarket(8, minutes, random), ...candlePath(TOKEN, minutes, random, path, volume)];
  const engine = new TrendEngine({ facts: CANDLES_ONLY, settings });
  const seen: Seen = { starts: new Map(), ends: new Map() };
  const last = drive(engine, withClocks(events, START + minutes * MINUTE), (snapshot, at) => {
    if (IS_SOAK) Snapshot.parse(snapshot);
    for (const flare of snapshot.flares.pro) {
      if (!seen.starts.has(flare.token.address)) seen.starts.set(flare.token.address, at);
    }
    for (const flare of snapshot.flares.finished_trending) {
      if (!seen.ends.has(flare.token.address)) seen.ends.set(flare.token.address, at);
    }
  });
  return { seen, last: Snapshot.parse(last), engine };
}

test.each(shareOf([0.1, 0.25]))(
  "a pump of %f with volume starts a flare within minutes, which fades and has its explanation",
  (size) => {
    const { seen, last, engine } = run(pump(size), busy(12), MINUTES, { reversedShare: 9 });
    const delay = ((seen.starts.get(TOKEN) ?? 0) - START) / MINUTE - PUMP_AT;
    expect(delay).toBeGreaterThan(0);
    expect(delay).toBeLessThanOrEqual(6);
    expect([...seen.starts.keys()]).toEqual([TOKEN]);
    expect(seen.ends.get(TOKEN)).toBeGreaterThan((seen.starts.get(TOKEN) ?? 0) + 10 * MINUTE);
    const [flare] = last.flares.finished_trending;
    const why = last.explanations[flare?.id ?? ""];
    expect(why?.finish_cause).toBe("faded");
    expect(why?.terms.map(({ name }) => name)).toEqual(["price", "volume", "flow"]);
    expect(why?.terms.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1, 3);
    expect(why?.score).toBeLessThan(why?.finish_threshold ?? 0);
    expect(Object.values(engine.rejected).every((count) => count === 0)).toBe(true);
  },
);

test("a flare ends as reversed soon after half of its rise is lost, with the share that was given back, and the burst starts no other", () => {
  const crash = (minute: number) => (minute < PUMP_AT + 8 ? pump(0.25)(minute) : 1.08);
  const { seen, last } = run(crash, busy(12));
  expect([...seen.starts.keys()]).toEqual([TOKEN]);
  expect(seen.ends.get(TOKEN)).toBeLessThanOrEqual(START + (PUMP_AT + 11) * MINUTE);
  const [flare, ...others] = last.flares.finished_trending;
  expect(others).toEqual([]);
  const outcome = last.outcomes[flare?.id ?? ""];
  expect(outcome).toMatchObject({ ended_by: "reversed" });
  // Of a rise to 1.25, 1.08 gives back about two thirds.
  expect(outcome?.given_back).toBeGreaterThan(55);
  expect(outcome?.given_back).toBeLessThan(80);
});

test("volume without a rise, or a rise without volume, starts no flare", () => {
  expect(run(() => 1, busy(20)).seen.starts.size).toBe(0);
  const tick = (minute: number) => (minute >= PUMP_AT && minute < PUMP_AT + 2 ? 1.1 : 1);
  const thin = (minute: number) => (minute >= PUMP_AT && minute < PUMP_AT + 2 ? 0.2 : 1);
  expect(run(tick, thin).seen.starts.size).toBe(0);
});

test("a rise in minutes of little volume starts no flare, even between busy minutes", () => {
  const before = (minute: number) => minute >= PUMP_AT - 5 && minute < PUMP_AT;
  const jump = (minute: number) => (minute >= PUMP_AT && minute < PUMP_AT + 10 ? 1.1 : 1);
  const backed = (minute: number) => (before(minute) || minute < PUMP_AT || minute > PUMP_AT + 10 ? 1 : 12);
  const unbacked = (minute: number) => (before(minute) ? 20 : minute === PUMP_AT ? 0.2 : 1);
  expect(run(jump, backed).seen.starts.size).toBe(1);
  expect(run(jump, unbacked).seen.starts.size).toBe(0);
});

test("a jump within one minute shows less net buying than a climb to the same price", () => {
  const flowOf = (path: (minute: number) => number, minutes: number) => {
    const { engine } = run(path, busy(12), PUMP_AT + minutes);
    return engine.readingOf("bsc", TOKEN)?.terms.find(({ name }) => name === "flow")?.raw ?? 0;
  };
  const jump = flowOf((minute) => (minute >= PUMP_AT ? 1.1 : 1), 3);
  const climb = flowOf(pump(0.1), 6);
  expect(jump).toBeGreaterThan(5);
  expect(climb).toBeGreaterThan(2 * jump);
  expect(flowOf(() => 1, 6)).toBeLessThan(jump / 2);
});

test("the volume that takers bought changes no flare, and there is no term imbalance", () => {
  const flaresOf = (more: { readonly buyVolume?: string }) => {
    const random = createRandom(5);
    const pumped = candlePath(TOKEN, MINUTES, random, pump(0.1), busy(12));
    const events = [...quietMarket(8, MINUTES, random), ...pumped.map((event) => ({ ...event, ...more }))];
    const engine = new TrendEngine({ facts: CANDLES_ONLY });
    const { flares, explanations } = drive(engine, withClocks(events, START + MINUTES * MINUTE));
    return { flares, explanations };
  };
  const unknown = flaresOf({});
  expect(unknown.flares.finished_trending.map(({ token }) => token.address)).toEqual([TOKEN]);
  const terms = Object.values(unknown.explanations).map((why) => why.terms.map(({ name }) => name));
  expect(terms).toEqual([["price", "volume", "flow"]]);
  expect(flaresOf({ buyVolume: "0" })).toEqual(unknown);
});

test("a checkpoint of release 0.1.0, whose net buying had another meaning, continues, and the next pump flares", () => {
  const random = createRandom(5);
  const pumped = candlePath(TOKEN, MINUTES, random, pump(0.1), busy(12));
  const events = [...withClocks([...quietMarket(8, MINUTES, random), ...pumped], START + MINUTES * MINUTE)];
  const isBefore = ({ at }: MarketEvent) => at < START + (PUMP_AT - 20) * MINUTE;
  const engine = new TrendEngine({ facts: CANDLES_ONLY });
  drive(engine, events.filter(isBefore));
  const text = JSON.stringify(checkpointOf(engine));
  const old = text.replaceAll(/\\"netBought\\":[\d.e+-]+,/g, "");
  expect(old.length).toBeLessThan(text.length);
  const restored = restoreEngine({ ...JSON.parse(old), version: 16 }, { facts: CANDLES_ONLY });
  const rest = events.filter((event) => !isBefore(event));
  const { flares, explanations } = Snapshot.parse(drive(restored, rest));
  const [flare] = flares.finished_trending;
  expect(flare?.token.address).toBe(TOKEN);
  const flow = explanations[flare?.id ?? ""]?.terms.find(({ name }) => name === "flow");
  expect(flow?.raw).toBeGreaterThanOrEqual(0);
});

test("a move of the whole market starts no flare", () => {
  const random = createRandom(9);
  const tokens = Array.from({ length: 9 }, (_, n) =>
    candlePath(address(n + 1), MINUTES, random, pump(0.1), busy(6)),
  );
  const engine = new TrendEngine({ facts: CANDLES_ONLY });
  let most = 0;
  drive(engine, withClocks(tokens.flat(), START + MINUTES * MINUTE), ({ flares }) => {
    most = Math.max(most, flares.pro.length);
  });
  expect(most).toBe(0);
});

test("a token with fewer than thirty candles does not flare", () => {
  const random = createRandom(2);
  const early = (minute: number) => (minute < 15 ? 1 : 1 + (minute - 14) * 0.02);
  const events = candlePath(TOKEN, 29, random, early, (minute) => (minute < 15 ? 1 : 20));
  const engine = new TrendEngine({ facts: CANDLES_ONLY });
  expect(drive(engine, withClocks(events, START + 29 * MINUTE)).flares.pro).toEqual([]);
  const more = new TrendEngine({ facts: CANDLES_ONLY, settings: { candleWarmUp: 16 } });
  expect(drive(more, withClocks(events, START + 29 * MINUTE)).flares.pro).toHaveLength(1);
});

test("a flare whose market falls silent ends as silent, and its token is forgotten after six hours", () => {
  const random = createRandom(5);
  const pumped = candlePath(TOKEN, PUMP_AT + 10, random, pump(0.25), busy(12));
  const events = [...quietMarket(8, PUMP_AT + 400, random), ...pumped];
  const engine = new TrendEngine({ facts: CANDLES_ONLY });
  const last = drive(engine, withClocks(events, START + (PUMP_AT + 400) * MINUTE));
  const [flare] = last.flares.finished_trending;
  expect(flare?.token.address).toBe(TOKEN);
  expect(last.explanations[flare?.id ?? ""]?.finish_cause).toBe("silent");
  expect(engine.tokenCount).toBe(8);
});

test("a quote token starts no flare", () => {
  const random = createRandom(5);
  const events = [
    profile(START, TOKEN, { quote: true }),
    ...quietMarket(8, MINUTES, random),
    ...candlePath(TOKEN, MINUTES, random, pump(0.25), busy(12)),
  ];
  const engine = new TrendEngine({ facts: CANDLES_ONLY });
  let most = 0;
  drive(engine, withClocks(events, START + MINUTES * MINUTE), ({ flares }) => {
    most = Math.max(most, flares.pro.length);
  });
  expect(most).toBe(0);
});

test("a candle that is up to five seconds late counts like one on time", () => {
  const random = createRandom(5);
  const events = [
    ...quietMarket(8, PUMP_AT + 15, random),
    ...candlePath(TOKEN, PUMP_AT + 15, random, pump(0.1), busy(12)),
  ];
  const inTime = new TrendEngine({ facts: CANDLES_ONLY });
  const late = new TrendEngine({ facts: CANDLES_ONLY });
  const until = START + (PUMP_AT + 15) * MINUTE;
  const punctual = drive(inTime, withClocks(events, until + 4_000));
  const clocks = withClocks(events, until + 4_000);
  const delayed = clocks.filter((event) => !("token" in event && event.token === TOKEN));
  for (const event of delayed) {
    late.accept(event);
    if (event.kind !== "clock" || event.at % MINUTE !== 4_000) continue;
    const its = events.find((item) => item.at === event.at - 4_000 && item.token === TOKEN);
    if (its) late.accept(its);
  }
  const [early] = punctual.flares.pro;
  const [other] = drive(late, []).flares.pro;
  expect([early?.token.address, other?.token.address]).toEqual([TOKEN, TOKEN]);
  expect(Date.parse(other?.started_trending_at ?? "") - Date.parse(early?.started_trending_at ?? "")).toBe(
    5_000,
  );
  expect(late.rejected.late).toBe(0);
});

test("a candle of an earlier minute, or not of a whole minute, is rejected", () => {
  const engine = new TrendEngine({ facts: CANDLES_ONLY });
  drive(engine, withClocks([candle(START + MINUTE, TOKEN, 1, 1)], START + 3 * MINUTE + 4_000));
  engine.accept(candle(START + 2 * MINUTE, TOKEN, 1, 1));
  expect(engine.rejected.late).toBe(1);
  engine.accept(candle(START + 3 * MINUTE + 1_000, TOKEN, 1, 1));
  expect(engine.rejected.candle).toBe(1);
  engine.accept(candle(START + 3 * MINUTE, TOKEN, 1, 1, { high: "0.5" }));
  expect(engine.rejected.candle).toBe(2);
});

/**
 * Returns the minutes from the start of a two-hour burst, on eight times the usual volume, to the
 * end of its flare.
 */
function lengthOfLongFlare(settings: Partial<DetectorSettings> = {}): number {
  const random = createRandom(5);
  const minutes = PUMP_AT + 180;
  const isBurst = (minute: number) => minute >= PUMP_AT && minute < PUMP_AT + 120;
  const rise = (minute: number) => Math.exp(0.004 * Math.max(0, Math.min(minute - PUMP_AT, 120)));
  const burst = candlePath(TOKEN, minutes, random, rise, (minute) => (isBurst(minute) ? 8 : 1));
  const engine = new TrendEngine({ facts: CANDLES_ONLY, settings });
  const last = drive(
    engine,
    withClocks([...quietMarket(8, minutes, random), ...burst], START + minutes * MINUTE),
  );
  const [flare] = last.flares.finished_trending;
  return (Date.parse(flare?.finished_trending_at ?? "") - START) / MINUTE - PUMP_AT;
}

test("a burst of hours does not raise the baselines quickly: its flare lasts longer than with fast baselines", () => {
  const length = lengthOfLongFlare();
  expect(length).toBeGreaterThanOrEqual(120);
  expect(length).toBeGreaterThan(lengthOfLongFlare({ frozenRate: 1 }));
});

test("a running flare fades when its token is marked as a quote token, and no other flare follows", () => {
  const random = createRandom(5);
  const minutes = PUMP_AT + 60;
  const foundAt = START + (PUMP_AT + 6) * MINUTE;
  const until = (minute: number) => (minute >= PUMP_AT ? 12 : 1);
  const rise = (minute: number) => Math.exp(0.02 * Math.max(0, minute - PUMP_AT));
  const play = (more: readonly MarketEvent[]) => {
    const engine = new TrendEngine({ facts: CANDLES_ONLY });
    const events = [
      ...quietMarket(8, minutes, random),
      ...candlePath(TOKEN, minutes, random, rise, until),
      ...more,
    ];
    return drive(engine, withClocks(events, START + minutes * MINUTE));
  };
  expect(play([]).flares.pro.map(({ token }) => token.address)).toEqual([TOKEN]);
  const { flares, explanations } = play([profile(foundAt, TOKEN, { quote: true })]);
  expect(flares.pro).toEqual([]);
  expect(flares.finished_trending).toHaveLength(1);
  const [flare] = flares.finished_trending;
  expect(explanations[flare?.id ?? ""]?.finish_cause).toBe("faded");
  const faded = Date.parse(flare?.finished_trending_at ?? "") - foundAt;
  expect(faded).toBeLessThanOrEqual(8 * MINUTE);
});
