import { expect, test } from "vitest";
import type { MarketEvent } from "../../../../src/base/market/index.ts";
import { type Flare, Snapshot } from "../../../../src/base/model/index.ts";
import { TrendEngine } from "../../../../src/engine/index.ts";
import { crowdOf, playScripts, type Script } from "../../trade-market.ts";
import {
  address,
  decimal,
  drive,
  liquidity,
  MINUTE,
  profile,
  START,
  trade,
  withClocks,
} from "../../trend-kit.ts";

const TOKEN = address(1);
const PUMP_AT = 90;
const MINUTES = 130;
const isPump = (minute: number) => minute >= PUMP_AT && minute < PUMP_AT + 12;
const pump: Script = {
  token: TOKEN,
  rate: (minute) => (isPump(minute) ? 25 : 2),
  buyShare: (minute) => (isPump(minute) ? 0.8 : 0.5),
};

interface Outcome {
  readonly starts: readonly { readonly flare: Flare; readonly at: number }[];
  readonly warnings: ReadonlySet<string>;
  readonly free: ReadonlyMap<string, readonly number[]>;
  readonly last: Snapshot;
}

function play(script: Script, extra: readonly MarketEvent[] = [], minutes = MINUTES): Outcome {
  const events = [...playScripts([...crowdOf(8), script], minutes), ...extra];
  const engine = new TrendEngine();
  const starts = new Map<string, { flare: Flare; at: number }>();
  const warnings = new Set<string>();
  const free = new Map<string, number[]>();
  const last = drive(engine, withClocks(events, START + minutes * MINUTE, START - 3_000), (snapshot, at) => {
    for (const flare of snapshot.flares.pro) if (!starts.has(flare.id)) starts.set(flare.id, { flare, at });
    for (const { warnings: held } of Object.values(snapshot.explanations))
      for (const name of held) warnings.add(name);
    for (const { id } of snapshot.flares.free) free.set(id, [...(free.get(id) ?? []), at]);
  });
  Snapshot.parse(last);
  return { starts: [...starts.values()], warnings, free, last };
}

test("a pump with many buyers starts one flare within two minutes and explains its terms", () => {
  const { starts, last } = play(pump);
  expect(starts.map(({ flare }) => flare.token.address)).toEqual([TOKEN]);
  const at = starts[0]?.at ?? 0;
  expect(at).toBeGreaterThan(START + PUMP_AT * MINUTE);
  expect(at).toBeLessThanOrEqual(START + (PUMP_AT + 2) * MINUTE);
  expect(starts[0]?.flare.started_trending_at).toBe(new Date(at).toISOString());
  const why = last.explanations[starts[0]?.flare.id ?? ""];
  expect(why?.terms.map(({ name }) => name)).toEqual(["buyers", "imbalance", "price", "volume"]);
});

test("a flare counts the trades of the last five minutes", () => {
  const minutes = PUMP_AT + 8;
  const { last } = play(pump, [], minutes);
  const end = START + minutes * MINUTE;
  const trades = playScripts([...crowdOf(8), pump], minutes).filter(
    (event) => event.kind === "trade" && event.token === TOKEN && event.at >= end - 5 * MINUTE,
  );
  const [flare] = last.flares.pro;
  expect(flare?.latest_buy_count).toBe(
    trades.filter((event) => "side" in event && event.side === "buy").length,
  );
  expect(flare?.latest_sell_count).toBe(
    trades.filter((event) => "side" in event && event.side === "sell").length,
  );
});

test("wash trading between a few wallets starts no flare", () => {
  const wash: Script = {
    token: TOKEN,
    rate: (minute) => (isPump(minute) ? 40 : 2),
    buyShare: (minute) => (isPump(minute) ? 0.51 : 0.5),
    trader: (_, count) => `0x${(count % 3) + 1}`,
  };
  expect(play(wash).starts).toEqual([]);
});

test("the purchases of a single whale start no flare", () => {
  const whale: Script = {
    ...pump,
    rate: (minute) => (isPump(minute) ? 5 : 2),
    usd: 400,
    trader: () => "0x77",
  };
  expect(play(whale).starts).toEqual([]);
});

test("a flare enters free at five minutes, not a millisecond earlier", () => {
  const { starts, free } = play(pump);
  const [start] = starts;
  expect(free.get(start?.flare.id ?? "")?.[0]).toBe((start?.at ?? 0) + 5 * MINUTE);
});

test("a partial removal of liquidity ends the flare a minute later, with the warning in the explanation", () => {
  const at = START + (PUMP_AT + 8) * MINUTE;
  const { last, warnings } = play(pump, [liquidity(at, TOKEN, "5000", "remove")]);
  expect(warnings).toContain("liquidity-removed");
  const [flare] = last.flares.finished_trending;
  expect(flare?.finished_trending_at).toBe(new Date(at + 60_000).toISOString());
  expect(last.explanations[flare?.id ?? ""]?.finish_cause).toBe("canary");
  expect(last.flares.pro).toEqual([]);
});

test("28 minutes after a flare, within its cool-down, a burst of 250 buyers starts another, and a burst like the first does not", () => {
  const secondAt = PUMP_AT + 28;
  const burst = (strongRate: number): Script => ({
    token: TOKEN,
    usd: 40,
    rate: (minute) => {
      if (minute >= PUMP_AT && minute < PUMP_AT + 4) return 18;
      return minute >= secondAt && minute < secondAt + 4 ? strongRate : 2;
    },
    buyShare: (minute) => {
      const isBurst = [PUMP_AT, secondAt].some((from) => minute >= from && minute < from + 4);
      return isBurst ? 0.9 : 0.5;
    },
  });
  const minutes = secondAt + 6;
  const strong = play(burst(70), [], minutes);
  expect(strong.starts).toHaveLength(2);
  expect((strong.starts[1]?.at ?? 0) - START).toBeLessThanOrEqual((secondAt + 3) * MINUTE);
  expect(play(burst(18), [], minutes).starts).toHaveLength(1);
});

test("the reason at the end of a flare that crashed states how far the price fell below the average", () => {
  const rugAt = PUMP_AT + 8;
  const rug: Script = { ...pump, rate: (minute) => (minute < rugAt ? pump.rate(minute) : 0) };
  const at = START + rugAt * MINUTE;
  const before = playScripts([rug], rugAt).findLast((event) => event.kind === "trade");
  const sales = Array.from({ length: 5 }, (_, index) =>
    trade(at + index, TOKEN, {
      side: "sell",
      price: decimal((Number(before?.price) || 0) * 0.8 ** (index + 1)),
      quoteUsd: "3000",
    }),
  );
  const { last } = play(rug, [...sales, liquidity(at + 10, TOKEN, "500", "remove")]);
  const [flare] = last.flares.finished_trending;
  const why = last.explanations[flare?.id ?? ""];
  const price = why?.terms.find(({ name }) => name === "price");
  expect(price?.raw).toBeLessThan(Math.log(0.6));
  expect(price?.z).toBeLessThan(0);
  expect(why?.text).toMatch(/price 4\d % below normal, .*warning: liquidity removed and 1 more/);
});

test("a token that nobody sells does not flare for long; a token with some sales does", () => {
  const launch = (buyShare: number): Script => ({
    token: TOKEN,
    usd: 200,
    rate: (minute) => (minute >= 30 && minute < 42 ? 25 : 0),
    buyShare: () => buyShare,
  });
  const [honest, trap] = [play(launch(0.8), [], 42), play(launch(1), [], 42)];
  expect(honest.last.flares.free.map(({ token }) => token.address)).toEqual([TOKEN]);
  expect(trap.last.flares.pro).toEqual([]);
  expect(trap.free.size).toBe(0);
  for (const { id } of trap.last.flares.finished_trending) {
    expect(trap.last.explanations[id]?.finish_cause).toBe("canary");
    expect(trap.last.explanations[id]?.warnings).toContain("no-seller");
  }
});

test("a weak warning alone does not exclude a flare from free; two stronger ones do", () => {
  const unverified = profile(START - 1_500, TOKEN, { contractSource: "unverified" });
  const weak = play(pump, [unverified]);
  expect(weak.warnings).toEqual(new Set(["unverified-source"]));
  expect(weak.free.size).toBe(1);
  const hungry = (random: number) => (random < 0.55 ? "0x77" : `0x${Math.floor(random * 1e9).toString(16)}`);
  const both = play({ ...pump, trader: hungry }, [unverified]);
  expect(both.warnings).toContain("one-buyer");
  expect(both.starts).toHaveLength(1);
  expect(both.free.size).toBe(0);
});
