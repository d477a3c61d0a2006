import { expect, test } from "vitest";
import { hasGraveWarning, judgeCanary } from "../../../src/engine/detect/canary.ts";
import {
  addTrade,
  createTradeState,
  decayTrades,
} from "../../../src/engine/detect/measures/trade-detector.ts";
import { notePool } from "../../../src/engine/detect/pools.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/settings.ts";
import { NO_PROFILE } from "../../../src/engine/state/token-profile.ts";
import { createToken } from "../../../src/engine/state/token-state.ts";
import { address, createRandom, HOUR, MINUTE, SECOND, START } from "../trend-kit.ts";

const { canaryHoldMs, collapseShare, trapMs } = DEFAULT_SETTINGS;

/** Creates a token at a price of 1, which the test judges with `judge`. */
function watched() {
  const token = createToken("bsc", address(1), address(1), START, NO_PROFILE);
  const trades = createTradeState(START, 1, DEFAULT_SETTINGS);
  Object.assign(token, { trades, price: 1, peak: 1 });
  const trade = (atMs: number, isBuy: boolean, trader: string, usd = 10) => {
    decayTrades(trades, atMs, 1, DEFAULT_SETTINGS);
    addTrade(
      trades,
      { at: atMs, isBuy, usd, trader, ageMs: 0, price: 1, isShallow: false },
      1,
      DEFAULT_SETTINGS,
    );
  };
  const judge = (atMs: number) => {
    decayTrades(trades, atMs, 1, DEFAULT_SETTINGS);
    judgeCanary(token, atMs, DEFAULT_SETTINGS);
    return token.canary.warnings;
  };
  return { token, trades, trade, judge };
}

/**
 * Returns the warnings after `buyers` bought and `sellers` sold within a minute, followed by
 * inactivity for the time of a trap.
 */
function warningsOf(buyers: number, sellers: number): readonly string[] {
  const { trade, judge } = watched();
  for (let n = 0; n < buyers; n += 1) trade(START + n, true, `buyer ${n}`);
  for (let n = 0; n < sellers; n += 1) trade(START + buyers + n, false, `seller ${n}`);
  expect(judge(START + MINUTE)).toEqual([]);
  expect(judge(START + MINUTE + trapMs - 1)).toEqual([]);
  return judge(START + MINUTE + trapMs);
}

test("many buyers without a seller raise a warning after three minutes, even if one wallet, perhaps the creator's, sold", () => {
  expect(warningsOf(40, 0)).toEqual(["no-seller"]);
  expect(warningsOf(40, 1)).toEqual(["no-seller"]);
  expect(warningsOf(40, 2)).toEqual([]);
});

test("sellers below 3 % of the buyers count as none, and few buyers are no trap", () => {
  expect(warningsOf(400, 11)).toEqual(["no-seller"]);
  expect(warningsOf(400, 13)).toEqual([]);
  expect(warningsOf(20, 0)).toEqual([]);
});

test("the first sale by a second wallet restarts the trap's three minutes", () => {
  const { trade, judge } = watched();
  const buy = (atMs: number) => {
    for (let n = 0; n < 40; n += 1) trade(atMs + n, true, `buyer ${n}`);
  };
  buy(START);
  trade(START + 100, false, "maker");
  judge(START + SECOND);
  trade(START + 2 * MINUTE, false, "buyer 1");
  expect(judge(START + SECOND + trapMs)).toEqual([]);
  // The sales fade, the purchases continue.
  const laterMs = START + 60 * MINUTE;
  buy(laterMs);
  expect(judge(laterMs + SECOND)).toEqual([]);
  expect(judge(laterMs + SECOND + trapMs - 1)).toEqual([]);
  expect(judge(laterMs + SECOND + trapMs)).toEqual(["no-seller"]);
});

test("the canary stays on for ten minutes after a warning ends; a new warning restarts the ten minutes", () => {
  const { token, judge } = watched();
  let atMs = START;
  for (let round = 0; round < 2; round += 1) {
    token.price = collapseShare / 2;
    judge(atMs);
    expect([token.canary.isOn, hasGraveWarning(token.canary)]).toEqual([true, true]);
    token.price = 1;
    judge(atMs + SECOND);
    expect([token.canary.isOn, hasGraveWarning(token.canary)]).toEqual([true, false]);
    judge(atMs + SECOND + canaryHoldMs - 1);
    token.price = collapseShare / 2;
    judge(atMs + canaryHoldMs + SECOND);
    token.price = 1;
    atMs += canaryHoldMs + 2 * SECOND;
    judge(atMs);
    judge(atMs + canaryHoldMs - 1);
    expect(token.canary.isOn).toBe(true);
    atMs += canaryHoldMs;
    judge(atMs);
    expect([token.canary.isOn, token.canary.changedMs]).toEqual([false, atMs]);
    atMs += SECOND;
  }
});

test("a price that has lost exactly nine tenths counts as collapsed", () => {
  const { token, judge } = watched();
  token.peak = 10;
  token.price = 10 * collapseShare;
  expect(judge(START)).toEqual(["price-collapsed"]);
  token.price = 10 * collapseShare + 1e-9;
  expect(judge(START + SECOND)).toEqual([]);
});

test("more than three purchases per buyer raise a warning, and so does one wallet with half of the buying", () => {
  const bought = (each: number, more: number) => {
    const { trade, judge } = watched();
    for (let n = 0; n < 4 * each + more; n += 1) trade(START, true, `buyer ${n % 4}`);
    return judge(START);
  };
  expect(bought(3, 0)).not.toContain("repeat-buyers");
  expect(bought(3, 1)).toContain("repeat-buyers");
  const wallet = (usd: number) => {
    const { trade, judge } = watched();
    for (let n = 0; n < 20; n += 1) trade(START, true, `buyer ${n}`, 10);
    trade(START, true, "whale", usd);
    return judge(START);
  };
  expect(wallet(200)).toEqual([]);
  expect(wallet(201)).toEqual(["one-buyer"]);
});

test("a few wallets that buy most of the dollars again and again raise a warning, large purchases of a small crowd do not", () => {
  const warnings = (wallets: number, rounds: number, usd: (n: number) => number) => {
    const { trade, judge } = watched();
    for (let round = 0; round < rounds; round += 1)
      for (let n = 0; n < wallets; n += 1) trade(START + round * SECOND, true, `buyer ${n}`, usd(n));
    return judge(START + rounds * SECOND);
  };
  expect(warnings(5, 3, () => 50)).toEqual(["few-buyers"]);
  expect(warnings(6, 3, () => 50)).toEqual([]);
  expect(warnings(2, 8, () => 50)).toEqual(["repeat-buyers", "few-buyers"]);
  expect(warnings(20, 3, (n) => (n < 5 ? 500 : 10))).toEqual(["few-buyers"]);
  expect(warnings(20, 1, (n) => (n < 5 ? 500 : 10))).toEqual([]);
});

/**
 * Wallets buy once each, of these sizes and at these gaps. Returns after which purchase the warning
 * came; -1 if it did not.
 */
function warnedAfter(sizes: (n: number) => number, gapMs: (n: number) => number): number {
  const { trade, judge } = watched();
  let atMs = START;
  for (let n = 1; n <= 60; n += 1) {
    trade(atMs, true, `wallet ${n}`, sizes(n));
    if (judge(atMs).includes("equal-buyers")) return n;
    atMs += gapMs(n);
  }
  return -1;
}

test("wallets used once that buy the same size at equal intervals raise a warning within a dozen purchases", () => {
  const random = createRandom(1);
  const near = (value: number, spread: number) => value * (1 + spread * (2 * random() - 1));
  expect(
    warnedAfter(
      () => 50,
      () => 10_000,
    ),
  ).toBeLessThanOrEqual(12);
  expect(
    warnedAfter(
      () => near(50, 0.03),
      () => near(10_000, 0.2),
    ),
  ).toBeLessThanOrEqual(12);
  // Every other wallet belongs to somebody else.
  expect(
    warnedAfter(
      (n) => (n % 2 === 0 ? 50 : 20 + 200 * random()),
      () => 5_000,
    ),
  ).toBeLessThanOrEqual(30);
});

test("neither the same size at random moments nor other sizes at equal intervals raise it", () => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const random = createRandom(seed);
    expect(
      warnedAfter(
        () => 50,
        () => -10_000 * Math.log(1 - random()),
      ),
    ).toBe(-1);
    expect(
      warnedAfter(
        () => 50 * Math.exp(2 * random() - 1),
        () => 10_000,
      ),
    ).toBe(-1);
  }
});

test("wallets that buy the same size at equal intervals raise a warning once they bought a fifth of the dollars, which an unverified source does not complete", () => {
  const after = (usd: number) => {
    const { token, trade, judge } = watched();
    token.profile = { ...NO_PROFILE, contractSource: "unverified" };
    for (let n = 0; n < 60; n += 1) {
      trade(START + n * 5_000, true, `regular ${n % 5}`, 20 + 30 * (n % 3));
      trade(START + n * 5_000 + 2_000, true, `wallet ${n}`, usd);
    }
    return { warnings: judge(START + 5 * MINUTE), isOn: token.canary.isOn };
  };
  expect(after(0.26).warnings).toEqual(["unverified-source"]);
  expect(after(10).warnings).toEqual(["unverified-source"]);
  expect(after(25)).toEqual({ warnings: ["equal-buyers", "unverified-source"], isOn: false });
});

/**
 * Wallets buy in a launch's first block or later. Returns the warnings after some sold at the times
 * `sellers`.
 */
function afterSales(
  listedMs: number,
  buyAtMs: number,
  buyers: number,
  sellers: readonly number[],
  soldUsd = 100,
) {
  const { token, trades, trade, judge } = watched();
  token.firstMarketMs = START;
  const report = { atMs: listedMs, usd: 50_000, usdText: "50000", cause: "listing" } as const;
  notePool(token, "pool", report, DEFAULT_SETTINGS).listedMs = listedMs;
  trade(START, true, "somebody", 300);
  for (let n = 0; n < buyers; n += 1) trade(buyAtMs + n, true, `early ${n}`, 100 + 40 * n);
  for (const [n, atMs] of sellers.entries()) trade(atMs, false, `early ${n % buyers}`, soldUsd);
  expect(trades.suspects.first.length).toBeLessThanOrEqual(64);
  return judge(Math.max(START, ...sellers));
}

test("buyers of a launch's first block that sell together raise a warning before most of them have sold", () => {
  const [at, minute] = [START + 10 * MINUTE, MINUTE];
  const listed = START - minute;
  expect(afterSales(listed, START, 8, [at, at + 1, at + 2, at + SECOND])).toContain("first-sellers");
  expect(afterSales(listed, START, 200, [at, at + 1, at + 2])).not.toContain("first-sellers");
  expect(afterSales(listed, START, 8, [at, at + 1])).not.toContain("first-sellers");
  // One after the other, half an hour apart.
  expect(
    afterSales(
      listed,
      START,
      8,
      [0, 30, 60, 90].map((n) => at + n * minute),
    ),
  ).not.toContain("first-sellers");
  expect(afterSales(listed, START + 4 * SECOND, 8, [at, at + 1, at + 2, at + 3])).not.toContain(
    "first-sellers",
  );
  expect(afterSales(START - 2 * HOUR, START, 8, [at, at + 1, at + 2, at + 3])).not.toContain("first-sellers");
});

test("buyers of the first block raise no warning by selling pennies, but do by selling a fifth of the dollars bought, also in parts", () => {
  const at = START + 10 * MINUTE;
  const listed = START - MINUTE;
  const eight = Array.from({ length: 8 }, (_, n) => at + n);
  expect(afterSales(listed, START, 8, eight, 0.3)).not.toContain("first-sellers");
  expect(afterSales(listed, START, 8, eight, 30)).not.toContain("first-sellers");
  expect(afterSales(listed, START, 8, eight, 50)).toContain("first-sellers");
  expect(afterSales(listed, START, 8, [...eight, ...eight.map((ms) => ms + SECOND)], 25)).toContain(
    "first-sellers",
  );
  // The same two wallets again and again.
  expect(afterSales(listed, START, 2, eight, 100)).not.toContain("first-sellers");
});

test("a wallet's first round trip raises no warning, but later ones do", () => {
  const { trades, trade, judge } = watched();
  for (let n = 0; n < 12; n += 1) trade(START, true, `buyer ${n}`, 10);
  const trip = (atMs: number, usd: number) => {
    trade(atMs, true, "to and fro", usd);
    trade(atMs + 1, false, "to and fro", usd);
  };
  trip(START + 1, 100);
  expect([trades.roundTripUsd, judge(START + 2)]).toEqual([0, []]);
  trip(START + 3, 200);
  expect(trades.roundTripUsd).toBeCloseTo(400, 1);
  expect(judge(START + 4)).toContain("round-trips");
});

test("round trips within one block count like those across blocks", () => {
  const { trades, trade, judge } = watched();
  for (let n = 0; n < 12; n += 1) trade(START, true, `buyer ${n}`, 10);
  for (let n = 0; n < 3; n += 1) {
    trade(START + 1, true, "to and fro", 100);
    trade(START + 1, false, "to and fro", 100);
  }
  expect(trades.roundTripUsd).toBeCloseTo(400, 1);
  expect(judge(START + 2)).toContain("round-trips");
});

test("the canary turns on when more than three fifths of the buyers sold within 15 minutes; later sales do not count", () => {
  const { token, trade, judge } = watched();
  const sell = (atMs: number, from: number, to: number) => {
    for (let n = from; n < to; n += 1) trade(atMs, false, `buyer ${n}`, 1);
  };
  for (let n = 0; n < 50; n += 1) trade(START, true, `buyer ${n}`, 10 + n);
  sell(START, 0, 30);
  expect(judge(START)).toEqual([]);
  // The same wallets again.
  sell(START + SECOND, 0, 30);
  sell(START + 15 * MINUTE + 1, 30, 50);
  expect([judge(START + 15 * MINUTE + 1), token.canary.isOn]).toEqual([[], false]);
  trade(START + 15 * MINUTE + 2, true, "buyer 50");
  sell(START + 15 * MINUTE + 3, 50, 51);
  for (let n = 51; n < 60; n += 1) trade(START + 15 * MINUTE + 3, true, `buyer ${n}`);
  sell(START + 15 * MINUTE + 4, 51, 60);
  expect([judge(START + 15 * MINUTE + 5), token.canary.isOn]).toEqual([["quick-sellers"], true]);
  expect(hasGraveWarning(token.canary)).toBe(false);
});

test("a wallet that sold within minutes and buys again is still a quick seller", () => {
  const { trade, judge } = watched();
  for (let round = 0; round < 2; round += 1) {
    for (let n = 0; n < 40; n += 1) trade(START + round * 10 * MINUTE, true, `buyer ${n}`);
    if (round === 0) for (let n = 0; n < 30; n += 1) trade(START + MINUTE, false, `buyer ${n}`);
  }
  expect(judge(START + 10 * MINUTE)).toEqual(["quick-sellers"]);
});

test("a crowd that sells within minutes is detected among more buyers of the half hour", () => {
  const { trade, judge } = watched();
  for (let n = 0; n < 60; n += 1) trade(START, true, `buyer ${n}`);
  const at = START + 10 * MINUTE;
  const crowd = (count: number) => {
    for (let n = 0; n < count; n += 1) {
      trade(at, true, `wallet ${n}`);
      trade(at, false, `wallet ${n}`);
    }
  };
  crowd(8);
  expect(judge(at)).toEqual([]);
  crowd(20);
  expect(judge(at)).toContain("quick-sellers");
});
