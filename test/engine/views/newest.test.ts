import { expect, test } from "vitest";
import { Snapshot } from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import {
  address,
  clock,
  drive,
  liquidity,
  listing,
  MINUTE,
  profile,
  SECOND,
  START,
  trade,
  withClocks,
} from "../trend-kit.ts";

const names = (engine: TrendEngine) => engine.snapshot().newest.bsc.map(({ token }) => token.address);

test("a listing is removed at the first second after fifteen minutes, even if nothing else happens", () => {
  const engine = new TrendEngine();
  engine.accept(clock(START));
  engine.accept(listing(START + 300, address(1)));
  engine.accept(clock(START + SECOND));
  expect(names(engine)).toEqual([address(1)]);
  for (let at = START + 2 * SECOND; at <= START + 15 * MINUTE; at += SECOND) engine.accept(clock(at));
  engine.snapshot();
  expect(names(engine)).toEqual([address(1)]);
  expect(engine.nextChangeAtMs).toBe(START + 15 * MINUTE + SECOND);
  engine.accept(clock(START + 15 * MINUTE + 999));
  expect(names(engine)).toEqual([address(1)]);
  engine.accept(clock(START + 15 * MINUTE + SECOND));
  expect(names(engine)).toEqual([]);
});

test("a listing at a whole second is removed exactly fifteen minutes later", () => {
  const engine = new TrendEngine();
  drive(engine, withClocks([listing(START, address(1))], START + 15 * MINUTE - SECOND));
  expect(names(engine)).toEqual([address(1)]);
  engine.accept(clock(START + 15 * MINUTE));
  expect(names(engine)).toEqual([]);
});

test("listings are sorted newest first, ties by address; other groups' listings are not shown", () => {
  const engine = new TrendEngine();
  const events = [
    listing(START + 1, address(9)),
    listing(START + 2, address(5)),
    listing(START + 2, address(3)),
    listing(START + 3, address(7), "p", "matic"),
    listing(START + 4, address(6)),
  ];
  drive(engine, withClocks(events, START + 5 * SECOND));
  expect(names(engine)).toEqual([6, 3, 5, 9].map(address));
});

test("a token that has traded for longer than fifteen minutes is not new in a second pool; a pool is listed once", () => {
  const engine = new TrendEngine();
  const events = [
    trade(START, address(1)),
    listing(START + 16 * MINUTE, address(1), "second"),
    listing(START + 16 * MINUTE, address(2)),
    listing(START + 17 * MINUTE, address(2)),
    listing(START + 17 * MINUTE, address(2), "other"),
  ];
  drive(engine, withClocks(events, START + 18 * MINUTE));
  expect(names(engine)).toEqual([address(2)]);
  expect(engine.rejected.duplicate).toBe(1);
});

test("a listing's price, liquidity and facts change only at refreshes", () => {
  const engine = new TrendEngine({ refreshMs: 5_000 });
  const events = [
    listing(START + 500, address(1)),
    trade(START + 1_500, address(1), { price: "0.000000000000123" }),
    liquidity(START + 1_600, address(1), "1234.50"),
    profile(START + 1_700, address(1), { symbol: "NEW", name: "New" }),
  ];
  const seen: [number, string, string, string][] = [];
  const last = drive(engine, withClocks(events, START + 12 * SECOND), ({ newest }, at) => {
    const [item] = newest.bsc;
    seen.push([
      (at - START) / SECOND,
      item?.token.price ?? "-",
      item?.liquidity ?? "-",
      item?.token.symbol ?? "-",
    ]);
  });
  expect(seen).toEqual([
    [0, "-", "-", "-"],
    [1, "0", "50000", "0x0000…0001"],
    [5, "0.000000000000123", "1234.50", "NEW"],
  ]);
  Snapshot.parse(last);
  expect(last.newest.bsc[0]).toMatchObject({ pool: `pool-${address(1)}`, contract_source: { status: "0" } });
});

test("a quote token is never listed as new; a token that is marked as one later is removed", () => {
  const engine = new TrendEngine();
  const events = [
    profile(START, address(1), { quote: true }),
    listing(START + 1, address(1)),
    listing(START + 1, address(2)),
    profile(START + 1_500, address(2), { quote: true }),
  ];
  const seen: string[][] = [];
  drive(engine, withClocks(events, START + 6 * SECOND), ({ newest }) => {
    seen.push(newest.bsc.map(({ token }) => token.address));
  });
  expect(seen).toEqual([[], [address(2)], []]);
});

test("above the maximum, only the newest listings remain", () => {
  const engine = new TrendEngine({ settings: { maxListings: 3 } });
  const events = [4, 2, 5, 1, 3].map((n, at) => listing(START + at, address(n)));
  drive(engine, withClocks(events, START + SECOND));
  expect(names(engine)).toEqual([3, 1, 5].map(address));
});
