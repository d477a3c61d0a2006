import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { Pool } from "../../../src/feeds/simulated/market/venues/pool.ts";
import { Venue } from "../../../src/feeds/simulated/market/venues/venue.ts";

const MINUTE = 60_000;
const NAMES = { group: "bsc", pool: "p", token: "t" } as const;

/** A venue with $200,000 at a price of 1, without a fee. */
function open() {
  const out: MarketEvent[] = [];
  const pool = new Pool(100_000, 100_000, 0);
  const venue = new Venue(NAMES, pool);
  const told = () =>
    out.splice(0).map(({ kind, at, ...rest }) => `${at} ${kind} ${"cause" in rest ? rest.cause : ""}`.trim());
  return { venue, out, told };
}

test("liquidity that nobody changes is repeated every half hour, each time from the last report on", () => {
  const { venue, out, told } = open();
  const reminders: number[] = [];
  for (let minute = 0; minute <= 95; minute++) {
    venue.remind(minute * MINUTE, 1, out);
    if (told().length > 0) reminders.push(minute);
  }
  expect(reminders).toEqual([0, 30, 60, 90]);
  venue.report(100 * MINUTE, 1, "add", out);
  told();
  venue.remind(130 * MINUTE - 1, 1, out);
  expect(told()).toEqual([]);
  venue.remind(130 * MINUTE, 1, out);
  expect(told()).toEqual([`${130 * MINUTE} liquidity sync`]);
});

test("liquidity is reported by a trade from 5 % on, by the minute from 1 % on, and by makers always, each since the last report", () => {
  const { venue, out, told } = open();
  venue.report(0, 1, "sync", out);
  expect(out).toEqual([{ kind: "liquidity", at: 0, ...NAMES, usd: "200000.0000", cause: "sync" }]);
  told();
  const tries: readonly (readonly [
    quoteUsd: number,
    cause: "trade" | "sync" | "add" | "remove",
    reported: boolean,
  ])[] = [
    [1.0499, "trade", false],
    [1.05, "trade", true],
    [1.05 * 1.0099, "sync", false],
    [1.05 * 1.0101, "sync", true],
    [1.05 * 1.0101 * 0.9501, "trade", false],
    [1.05 * 1.0101 * 0.9499, "trade", true],
    [1.05 * 1.0101 * 0.9499, "add", true],
    [1.05 * 1.0101 * 0.9499, "remove", true],
  ];
  for (const [at, [quoteUsd, cause, reported]] of tries.entries()) {
    venue.report(at, quoteUsd, cause, out);
    expect(told(), `${at}`).toEqual(
      reported ? [`${at} liquidity ${cause === "trade" ? "sync" : cause}`] : [],
    );
  }
});

test("a trade below a cent is none, and a trade's price times its amount is its size", () => {
  const { venue, out } = open();
  expect(venue.buy(1, 0.009, 1, "w", out)).toBe(0);
  venue.sell(1, 0.009, 1, "w", out);
  expect(out).toEqual([]);
  const bought = venue.buy(2, 1_000, 2, "w", out);
  venue.sell(3, bought, 2, "w", out);
  venue.buy(4, 0.01, 1, "w", out);
  expect(out.map((event) => (event.kind === "trade" ? [event.side, event.quoteUsd] : []))).toEqual([
    ["buy", "1000.0000"],
    ["sell", "1000.0000"],
    ["buy", "0.0100"],
  ]);
  for (const event of out)
    if (event.kind === "trade")
      expect(Number(event.price) * Number(event.amount)).toBeCloseTo(Number(event.quoteUsd), 2);
  const dust = venue.dust(5, "sell", 0.001, 1, Math.log(2), "d");
  expect([dust.quoteUsd, Number(dust.price)]).toEqual([
    "0.00100000",
    expect.closeTo(2 * venue.pool.price, 6),
  ]);
});

test("who holds the LP tokens is repeated with the first report after an hour, in shares of what the pool holds now", () => {
  const { venue, out, told } = open();
  expect(venue.isLocked).toBe(false);
  venue.lock({ at: 0, burned: 0.5, held: [{ share: 0.25, until: 9 }] }, out);
  expect(venue.isLocked).toBe(true);
  told();
  venue.scale(2);
  venue.report(60 * MINUTE - 1, 1, "add", out);
  expect(told()).toHaveLength(1);
  venue.report(60 * MINUTE, 1, "add", out);
  expect(out[1]).toEqual({
    kind: "locks",
    at: 60 * MINUTE,
    ...NAMES,
    burned: 0.25,
    held: [{ share: 0.125, until: 9 }],
  });
  told();
  venue.scale(0.1);
  venue.report(120 * MINUTE, 1, "remove", out);
  expect(out[1]).toMatchObject({ burned: 1, held: [{ share: 1 }] });
  told();
  venue.moveTo(121 * MINUTE, "q", 1, out);
  expect(out).toMatchObject([
    { kind: "listing", pool: "q" },
    { kind: "locks", pool: "q", burned: 0, held: [] },
  ]);
  expect(venue.isLocked).toBe(false);
});
