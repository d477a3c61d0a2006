import { expect, test } from "vitest";
import { checkpointOf, restoreEngine } from "../../../src/app/data/engine-checkpoints.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import {
  address,
  clock,
  drive,
  HOUR,
  liquidity,
  listing,
  MINUTE,
  profile,
  SECOND,
  START,
  trade,
  withClocks,
} from "../trend-kit.ts";

const TOKEN = address(1);
const names = (engine: TrendEngine) => engine.snapshot().newest.bsc.map(({ token }) => token.address);

test("an established token whose second pool is listed in the engine's first minutes is not new", () => {
  const engine = new TrendEngine();
  const events = [
    trade(START + 1, TOKEN, { pool: "old" }),
    listing(START + MINUTE, TOKEN, "another"),
    liquidity(START + 2, address(2), "800000", "sync", "old-2"),
    listing(START + MINUTE, address(2), "another-2"),
    profile(START + 3, address(3), { createdAt: START - HOUR }),
    listing(START + MINUTE, address(3), "another-3"),
  ];
  drive(engine, withClocks(events, START + 2 * MINUTE));
  expect(names(engine)).toEqual([]);
});

test("a token whose first pool traded before it had real liquidity is new, and so is a token with two new pools", () => {
  const engine = new TrendEngine();
  const events = [
    liquidity(START + 1, TOKEN, "50", "add", "p"),
    trade(START + 2, TOKEN, { pool: "p" }),
    listing(START + 3, TOKEN, "p"),
    listing(START + 4, address(2), "first"),
    trade(START + 5, address(2), { pool: "first" }),
    listing(START + 6, address(2), "second"),
  ];
  drive(engine, withClocks(events, START + 10 * SECOND));
  expect(names(engine)).toEqual([address(2), TOKEN]);
});

test("a forgotten token is not new in another pool, even after a checkpoint", () => {
  const engine = new TrendEngine();
  const trades = Array.from({ length: 9 }, (_, n) => trade(START + n * SECOND, TOKEN));
  drive(engine, withClocks(trades, START + MINUTE));
  for (let at = START + MINUTE; at <= START + 7 * HOUR; at += MINUTE) engine.accept(clock(at));
  expect(engine.tokenCount).toBe(0);
  const restored = restoreEngine(JSON.parse(JSON.stringify(checkpointOf(engine))));
  for (const one of [engine, restored]) {
    one.accept(listing(START + 7 * HOUR + 1, TOKEN, "another"));
    one.accept(listing(START + 7 * HOUR + 1, address(2), "first"));
    one.accept(clock(START + 7 * HOUR + SECOND));
    expect(names(one)).toEqual([address(2)]);
  }
});

test("a token listed long ago is not new in another pool, even if it never traded or was forgotten", () => {
  const engine = new TrendEngine();
  const many = Array.from({ length: 20 }, (_, n) => listing(START + n * 16 * MINUTE + 1, TOKEN, `p${n}`));
  const late = [
    listing(START + 1, address(2), "late"),
    liquidity(START + HOUR, address(2), "50000", "sync", "late"),
    liquidity(START + 115 * MINUTE, address(2), "50000", "sync", "late"),
    trade(START + 170 * MINUTE, address(2), { pool: "late" }),
    listing(START + 180 * MINUTE, address(2), "another"),
  ];
  const forgotten = [
    listing(START + 1, address(3), "short"),
    ...[1, 2, 3, 4].map((n) => trade(START + n * 5 * MINUTE, address(3), { pool: "short" })),
    listing(START + 3 * HOUR, address(3), "again"),
  ];
  const seen = new Set<string>();
  drive(engine, withClocks([...many, ...late, ...forgotten], START + 320 * MINUTE), ({ newest }, atMs) => {
    if (atMs > START + 20 * MINUTE) for (const { token } of newest.bsc) seen.add(token.address);
  });
  expect([...seen]).toEqual([]);
});
