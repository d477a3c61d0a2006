import { describe, expect, test } from "vitest";
import { checkpointOf, restoreEngine } from "../../../../src/app/data/engine-checkpoints.ts";
import type { MarketEvent, Window } from "../../../../src/base/market/index.ts";
import type { Snapshot } from "../../../../src/base/model/index.ts";
import { TrendEngine } from "../../../../src/engine/index.ts";
import {
  address,
  clock,
  drive,
  listing,
  MINUTE,
  profile,
  report,
  START,
  trade,
  withClocks,
} from "../../trend-kit.ts";

const GEM = address(1);
/** The facts that an aggregator's feed has. */
const FACTS = { trades: false, liquidity: true, listings: true, profiles: true };

/**
 * Returns the counts of a usual day, with these purchases, sales and dollars in the last five
 * minutes.
 */
function burst(
  buys: number,
  sells: number,
  usd: number,
  { buyers = buys, sellers = sells } = {},
): Window["counts"] {
  const { h1, h24 } = report(START, GEM).counts;
  const m5 = { buys, sells, buyers, sellers, usd: String(usd) };
  const plus = (span: typeof h1) => ({
    buys: span.buys + buys,
    sells: span.sells + sells,
    buyers: span.buyers + buyers,
    sellers: span.sellers + sellers,
    usd: String(Number(span.usd) + usd),
  });
  return { m5, h1: plus(h1), h24: plus(h24) };
}

/**
 * A pump's report: sixty buyers, eight sellers, $6,000 and a rise of 20 % in five minutes.
 */
const PUMP = { counts: burst(60, 8, 6_000), price: "1.2", past: { m5: "1", m30: "1", h1: "1" } };

/**
 * Plays events beside quiet tokens with a report each minute, so that the group has a median.
 */
function play(
  events: readonly MarketEvent[],
  minutes: number,
  onSnapshot?: (snapshot: Snapshot, at: number) => void,
) {
  const quiet = Array.from({ length: 8 }, (_, n) =>
    Array.from({ length: minutes }, (_, minute) => report(START + minute * MINUTE + 1, address(50 + n))),
  );
  const profiles = [GEM, ...quiet.map((_, n) => address(50 + n))].map((token) => profile(START, token));
  const engine = new TrendEngine({ facts: FACTS });
  const all = withClocks([...profiles, ...quiet.flat(), ...events], START + minutes * MINUTE);
  const snapshot = drive(engine, all, onSnapshot);
  return { engine, snapshot };
}

/** Returns a report for each minute. The day's count rises, as with continuous trading. */
const each = (minutes: number, part: (minute: number) => Partial<Window>, from = 0) =>
  Array.from({ length: minutes - from }, (_, step) => {
    const minute = from + step;
    const given = report(START + minute * MINUTE + 1, GEM, part(minute));
    const { h24 } = given.counts;
    return { ...given, counts: { ...given.counts, h24: { ...h24, buys: h24.buys + minute } } };
  });

describe("a token that only an aggregator reports on", () => {
  test("flares within a second of the first report of a burst, with the terms that explain it", () => {
    const starts: number[] = [];
    const { snapshot } = play(
      each(2, () => PUMP, 1),
      2,
      ({ flares }, at) => {
        if (flares.pro.length > 0 && starts.length === 0) starts.push(at);
      },
    );
    expect(starts[0]).toBeLessThanOrEqual(START + MINUTE + 2_000);
    const [flare] = snapshot.flares.pro;
    expect(flare).toMatchObject({
      token: { address: GEM, price: "1.2" },
      latest_buy_count: 60,
      latest_sell_count: 8,
      recent_price_change: 20,
      liquidity: "100000",
    });
    const why = snapshot.explanations[flare?.id ?? ""];
    expect(why?.terms.map(({ name }) => name)).toEqual(["buyers", "imbalance", "price", "volume"]);
    expect(why?.terms[0]).toMatchObject({ name: "buyers", raw: 60 });
  });

  test("ends its flare when the burst is over, and when it is no longer listed", () => {
    const faded = play(
      each(30, (minute) => (minute < 5 ? PUMP : {})),
      30,
    ).snapshot.flares;
    expect(faded.pro).toEqual([]);
    expect(faded.finished_trending.map(({ token }) => token.address)).toEqual([GEM]);
    const gone = play(
      each(5, () => PUMP),
      30,
    ).snapshot.flares;
    expect(gone.pro).toEqual([]);
    expect(gone.finished_trending).toHaveLength(1);
  });

  test("keeps its flare through ten minutes without any report", () => {
    const quiet = Array.from({ length: 8 }, (_, n) => report(START + 1, address(50 + n)));
    const pumped = each(5, () => PUMP);
    const engine = new TrendEngine({ facts: FACTS });
    const { flares } = drive(engine, withClocks([...quiet, ...pumped], START + 14 * MINUTE));
    expect(flares.pro).toHaveLength(1);
  });

  test.each([
    [
      "wash: the same few trade again and again",
      { counts: burst(60, 60, 60_000, { buyers: 3, sellers: 3 }) },
    ],
    ["a thin tick: the price jumps with hardly any money", { ...PUMP, counts: burst(3, 0, 30) }],
    ["dust: a crowd of trades of a cent", { ...PUMP, counts: burst(200, 0, 2) }],
    ["a crowd without a rise", { counts: burst(60, 8, 6_000) }],
  ])("does not flare on %s", (_, part) => {
    const { snapshot } = play(
      each(10, () => part),
      10,
    );
    expect(snapshot.flares.pro).toEqual([]);
  });

  test("gets a canary when almost nobody sells, and when the liquidity is removed", () => {
    const warningsOf = (part: (minute: number) => Partial<Window>) => {
      const { engine } = play(each(12, part), 12);
      return engine.trendOf("bsc", GEM)?.canarySinceMs ?? null;
    };
    const trap = { ...PUMP, counts: burst(60, 1, 6_000, { sellers: 1 }) };
    // The creator may sell often.
    for (const sells of [1, 50]) {
      const nobodySells = { ...trap.counts, h1: { ...trap.counts.h1, sells, sellers: 1 } };
      expect(warningsOf(() => ({ ...trap, counts: nobodySells }))).toBeGreaterThan(START);
    }
    expect(warningsOf((minute) => (minute < 6 ? {} : { liquidity: "900", price: "0.9" }))).toBeGreaterThan(
      START,
    );
    expect(warningsOf(() => ({}))).toBeNull();
  });

  test("warns of repeat buyers", () => {
    const repeated = { ...PUMP, counts: burst(60, 30, 6_000, { buyers: 12 }) };
    const { snapshot } = play(
      each(3, () => repeated),
      3,
    );
    const why = snapshot.explanations[snapshot.flares.pro[0]?.id ?? ""];
    expect(why?.warnings).toEqual(["repeat-buyers"]);
  });

  test("is charted from the past prices in its first report, with the hour's trades", () => {
    const risen = { price: "1.3", past: { m5: "1.25", m30: "1.1", h1: "1" } };
    const { snapshot } = play(
      each(3, () => risen),
      3,
    );
    const [first] = snapshot.charts.bsc;
    expect(first?.flare.token.address).toBe(GEM);
    expect(first?.latest_candle_prices.length).toBeGreaterThanOrEqual(59);
    expect(first).toMatchObject({ buy_count: 24, sell_count: 24 });
  });

  test("is not charted with dust alone", () => {
    const risen = { price: "1.3", past: { m5: "1.25", m30: "1.1", h1: "1" }, counts: burst(9, 2, 0.5) };
    expect(
      play(
        each(3, () => risen),
        3,
      ).snapshot.charts.bsc.map(({ flare }) => flare.token.address),
    ).not.toContain(GEM);
  });

  test("uses single trades once they are known, and ignores reports from then on", () => {
    const trades = Array.from({ length: 5 }, (_, n) => trade(START + 2 * MINUTE + n, GEM, { price: "1.1" }));
    const late = report(START + 3 * MINUTE, GEM, PUMP);
    const { engine, snapshot } = play([report(START + MINUTE, GEM), ...trades, late], 4);
    expect(snapshot.flares.pro).toEqual([]);
    expect(engine.rejected.mixed).toBe(1);
  });

  test("ignores a shallow pool's price, and reports that arrive out of order", () => {
    const own = { pool: "own", price: "9", past: { m5: "1", m30: "1", h1: "1" }, liquidity: "500" };
    const events = each(10, () => ({})).flatMap((one) => [
      one,
      { ...one, ...own, counts: burst(90, 0, 900_000) },
    ]);
    const { snapshot } = play(events, 10);
    expect(snapshot.flares.pro).toEqual([]);
    expect(
      snapshot.charts.bsc.find(({ flare }) => flare.token.address === GEM)?.most_recent_price ?? "1",
    ).toBe("1");
    const engine = new TrendEngine({ facts: FACTS });
    const [first, earlier] = [report(START + 9_000, GEM), report(START + 5_000, GEM, { price: "2" })];
    drive(engine, [clock(START + 8_000), first, earlier, clock(START + 10_000)]);
    expect(engine.rejected.late).toBe(1);
  });

  test("keeps its flare and price while an attacker wash-trades in a pool of a tenth of the depth", () => {
    const real = each(40, (minute) => ({
      ...(minute < 10 ? {} : { ...PUMP, price: (1.2 + minute / 100).toFixed(2) }),
      liquidity: "15000",
    }));
    for (const earlierMs of [-1, 1]) {
      const own = real.slice(12).map((one, minute) => ({
        ...one,
        at: one.at - earlierMs,
        pool: "own",
        liquidity: "1600",
        price: "1.3",
        past: { m5: "1.3", m30: "1.3", h1: "1.3" },
        counts: minute === 4 ? burst(1_000, 1_000, 2_000_000, { buyers: 1 }) : burst(0, 0, 0),
      }));
      const { flares } = play([...real, ...own], 40).snapshot;
      expect(flares.finished_trending).toEqual([]);
      expect(flares.pro[0]?.token).toMatchObject({ address: GEM, price: "1.59" });
    }
  });

  test("gets a canary when the liquidity is removed in small steps at an unchanged price", () => {
    const leftAfter = (minute: number) => 0.8 ** Math.min(10, Math.max(0, minute - 5));
    const shrinking = (price: (minute: number) => number) =>
      each(20, (minute) => ({
        liquidity: String(100_000 * leftAfter(minute)),
        price: price(minute).toFixed(6),
      }));
    const canaryOf = (reports: readonly MarketEvent[]) =>
      play(reports, 20).engine.trendOf("bsc", GEM)?.canarySinceMs ?? null;
    expect(canaryOf(shrinking(() => 1))).toBeGreaterThan(START + 5 * MINUTE);
    // Sales reduce a pool's dollars with the root of the price. No such step is a removal.
    const sold = each(20, (minute) => {
      const left = 0.8 ** Math.min(4, Math.max(0, minute - 5));
      return { liquidity: String(100_000 * left), price: String(left ** 2) };
    });
    expect(canaryOf(sold)).toBeNull();
  });

  test("gets a canary for a removal from a deep second pool, but not for sales there", () => {
    const main = each(40, () => ({}));
    const canaryOf = (left: (minute: number) => number, price: (left: number) => number) => {
      const other = each(40, (minute) => ({
        pool: "other",
        counts: burst(0, 0, 0),
        liquidity: String(900_000 * left(minute)),
        price: (4 * price(left(minute))).toFixed(6),
      }));
      const { engine } = play([...main, ...other], 40);
      return (engine.trendOf("bsc", GEM)?.canarySinceMs ?? null) !== null;
    };
    const gradually = (minute: number) => 0.85 ** Math.min(12, Math.max(0, minute - 20));
    const atOnce = (minute: number) => (minute < 20 ? 1 : 0.14);
    for (const left of [gradually, atOnce]) {
      expect(canaryOf(left, (share) => share ** 2)).toBe(false);
      expect(canaryOf(left, () => 1)).toBe(true);
    }
  });

  test("sees no removal in a fall of the price while its engine was stopped, from a checkpoint of version 15", () => {
    const { engine } = play(
      each(20, () => ({})),
      20,
    );
    const text = JSON.stringify(checkpointOf(engine));
    const old = text.replaceAll(/,\\"reportedPrice\\":[\d.e+-]+/g, "");
    expect(old.length).toBeLessThan(text.length);
    const later = each(40, () => ({ price: "0.1", liquidity: String(100_000 * Math.sqrt(0.1)) }), 30);
    const laterOf = (restored: TrendEngine) => {
      drive(restored, withClocks(later, START + 40 * MINUTE));
      return checkpointOf(restored);
    };
    const continued = laterOf(restoreEngine(checkpointOf(engine), { facts: FACTS }));
    expect(laterOf(restoreEngine({ ...JSON.parse(old), version: 15 }, { facts: FACTS }))).toEqual(continued);
  });

  test("is new from its creation, not from its first report", () => {
    const listed = { ...listing(START + 3 * MINUTE, GEM), listedAt: START - 10 * MINUTE };
    const times: [number, string | undefined][] = [];
    play([listed], 7, ({ newest }, at) => times.push([at, newest.bsc[0]?.listed_at]));
    const shown = times.filter(([, listedAt]) => listedAt !== undefined);
    expect(shown[0]?.[1]).toBe(new Date(START - 10 * MINUTE).toISOString());
    const gone = times.find(([at, listedAt]) => at > (shown[0]?.[0] ?? 0) && listedAt === undefined);
    expect(gone?.[0]).toBe(START + 5 * MINUTE);
  });
});
