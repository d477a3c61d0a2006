import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import {
  address,
  decimal,
  drive,
  liquidity,
  listing,
  SECOND,
  START,
  trade,
  withClocks,
} from "../trend-kit.ts";

/*
 * A launchpad lists a token before its bonding curve has funds. Once enough is sold, the funds move
 * to a pool in one transaction.
 */

const TOKEN = address(1);
const CURVE = TOKEN;

/** Returns purchases and some sales of $300, which change the funds and the price. */
function trades(fromMs: number, untilMs: number, everyMs: number, fundsUsd: number, pool = CURVE) {
  const events: MarketEvent[] = [];
  let funds = fundsUsd;
  for (let at = fromMs; at < untilMs; at += everyMs) {
    const isSale = events.length % 10 === 8;
    funds += isSale ? -300 : 300;
    const price = decimal(((funds + 4_000) / 4_000) ** 2);
    events.push(liquidity(at, TOKEN, decimal(2 * funds), "sync", pool));
    events.push(trade(at, TOKEN, { pool, price, quoteUsd: "300", side: isSale ? "sell" : "buy" }));
  }
  return { events, funds };
}

const LISTED: MarketEvent = {
  kind: "listing",
  at: START,
  group: "bsc",
  pool: CURVE,
  token: TOKEN,
  liquidity: "0",
};

function played(events: readonly MarketEvent[], untilMs: number) {
  const engine = new TrendEngine();
  const snapshot = drive(engine, withClocks(events, untilMs));
  return { engine, snapshot };
}

test("purchases of a token whose curve was empty at its listing count from the first one", () => {
  const { events } = trades(START + SECOND, START + 11 * SECOND, SECOND, 0);
  const { engine, snapshot } = played([LISTED, ...events], START + 15 * SECOND);
  expect(engine.rejected.dust).toBe(0);
  expect(snapshot.newest.bsc.map(({ token, pool }) => [token.address, pool])).toEqual([[TOKEN, CURVE]]);
});

test("when a curve's funds move to a pool, the pool's trades count and set the price at once, without a warning", () => {
  const movedAt = START + 200 * SECOND;
  const curve = trades(START + SECOND, movedAt, 2 * SECOND, 0);
  const { funds } = curve;
  const moved = [
    liquidity(movedAt, TOKEN, decimal(2 * funds), "add", "pool"),
    liquidity(movedAt, TOKEN, "0", "remove", CURVE),
  ];
  const after = trades(movedAt + SECOND, movedAt + 120 * SECOND, 2 * SECOND, funds, "pool");
  const { engine, snapshot } = played(
    [LISTED, ...curve.events, ...moved, ...after.events],
    movedAt + 130 * SECOND,
  );
  expect(engine.rejected.dust).toBe(0);
  const [last] = after.events.slice(-1);
  const price = last?.kind === "trade" ? last.price : "";
  expect(snapshot.newest.bsc.map(({ token }) => [token.address, Number(token.price)])).toEqual([
    [TOKEN, Number(price)],
  ]);
  expect(snapshot.newest.bsc).toHaveLength(1);
  const [flare] = snapshot.flares.pro;
  expect(flare?.token.address).toBe(TOKEN);
  expect(snapshot.explanations[flare?.id ?? ""]?.warnings).not.toContain("liquidity-removed");
  expect(Number(flare?.token.price)).toBe(Number(price));
});

test("a deposit for one block does not count, even if a little is removed from another pool at the same moment", () => {
  const at = START + 300 * SECOND;
  const before = Array.from({ length: 60 }, (_, n) => trade(START + (n * 5 + 1) * SECOND, TOKEN));
  const attack = [
    liquidity(at, TOKEN, "2000000", "add", "own"),
    liquidity(at, TOKEN, "49900", "remove"),
    ...Array.from({ length: 9 }, (_, n) =>
      trade(at + n, TOKEN, { pool: "own", price: "9", quoteUsd: "90000" }),
    ),
  ];
  const { snapshot } = played([listing(START, TOKEN), ...before, ...attack], at + 10 * SECOND);
  expect(snapshot.newest.bsc.map(({ token }) => Number(token.price))).toEqual([1]);
});
