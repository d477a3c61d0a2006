import { expect, test } from "vitest";
import { checkpointOf, restoreEngine } from "../../../src/app/data/engine-checkpoints.ts";
import type { LocksEvent } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { address, HOUR, listing, MINUTE, SECOND, START, trade } from "../trend-kit.ts";

const TOKEN = address(1);
const DAY = 24 * HOUR;

function locks(
  at: number,
  burned: number,
  held: LocksEvent["held"] = [],
  pool = `pool-${TOKEN}`,
): LocksEvent {
  return { kind: "locks", at, group: "bsc", pool, token: TOKEN, burned, held };
}

/** Runs a token that was listed with $50,000. */
function run(...events: readonly LocksEvent[]): TrendEngine {
  const engine = new TrendEngine();
  engine.accept({ kind: "clock", at: START });
  engine.accept(listing(START, TOKEN));
  engine.accept(trade(START, TOKEN));
  for (const event of events) engine.accept(event);
  engine.accept({ kind: "clock", at: START + 2 * SECOND });
  return engine;
}

function readOf(engine: TrendEngine) {
  const { locked, warnings } = engine.readingOf("bsc", TOKEN) ?? {};
  return { locked, warnings };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

test("who holds the liquidity is unknown until a feed says so, and then raises no warning", () => {
  expect(readOf(run())).toEqual({ locked: null, warnings: [] });
});

test("liquidity of a new token that its makers can withdraw raises a warning", () => {
  expect(readOf(run(locks(START, 0)))).toEqual({
    locked: { burned: 0, held: 0, until: null },
    warnings: ["unlocked-liquidity"],
  });
});

test.each([
  ["burned", locks(START, 0.6), { burned: 0.6, held: 0, until: null }],
  [
    "locked for a month",
    locks(START, 0, [{ share: 0.97, until: START + 30 * DAY }]),
    { burned: 0, held: 0.97, until: iso(START + 30 * DAY) },
  ],
  [
    "locked without a known term",
    locks(START, 0.1, [{ share: 0.8, until: null }]),
    { burned: 0.1, held: 0.8, until: null },
  ],
])("liquidity that is %s raises none", (_, event, locked) => {
  expect(readOf(run(event))).toEqual({ locked, warnings: [] });
});

test("a lock that ends within the hour raises the warning, and one that is over holds nothing", () => {
  const ending = locks(START, 0, [{ share: 0.9, until: START + HOUR }]);
  expect(readOf(run(ending))).toEqual({
    locked: { burned: 0, held: 0.9, until: iso(START + HOUR) },
    warnings: ["unlocked-liquidity"],
  });
  const over = locks(START, 0, [{ share: 0.9, until: START + SECOND }]);
  expect(readOf(run(over)).locked).toEqual({ burned: 0, held: 0, until: null });
});

test("the end of a tiny lock is not the one that matters, and an open end hides the others", () => {
  const tiny = { share: 0.02, until: START + DAY };
  const main = { share: 0.7, until: START + 9 * DAY };
  expect(readOf(run(locks(START, 0, [tiny, main]))).locked).toEqual({
    burned: 0,
    held: 0.72,
    until: iso(START + 9 * DAY),
  });
  const open = { share: 0.2, until: null };
  expect(readOf(run(locks(START, 0, [tiny, main, open]))).locked).toEqual({
    burned: 0,
    held: 0.92,
    until: null,
  });
});

test("many small locks that end together are one that matters", () => {
  const held = Array.from({ length: 25 }, (_, at) => ({
    share: 0.04,
    until: START + 120 * SECOND + at * SECOND,
  }));
  expect(readOf(run(locks(START, 0, held))).locked?.until).toBe(iso(START + 121 * SECOND));
});

test("pools count by their dollars, and unknown ones as free up to half of them", () => {
  const engine = run(locks(START, 1));
  const pool = (usd: string) =>
    engine.accept({
      kind: "liquidity",
      at: START + 2 * SECOND,
      group: "bsc",
      pool: "other",
      token: TOKEN,
      usd,
      cause: "add",
    });
  pool("30000");
  expect(readOf(engine).locked).toEqual({ burned: 0.625, held: 0, until: null });
  pool("60000");
  expect(readOf(engine).locked).toBeNull();
  engine.accept(locks(START + 2 * SECOND, 0, [], "other"));
  expect(readOf(engine).locked).toEqual({ burned: 0.4545, held: 0, until: null });
});

test("the warning ends when the liquidity is locked or burned, and when the token is a day old", () => {
  const engine = run(locks(START, 0));
  engine.accept(locks(START + 2 * SECOND, 1));
  engine.accept({ kind: "clock", at: START + 4 * SECOND });
  expect(readOf(engine).warnings).toEqual([]);
  engine.accept(locks(START + 4 * SECOND, 0));
  engine.accept({ kind: "clock", at: START + 6 * SECOND });
  expect(readOf(engine).warnings).toEqual(["unlocked-liquidity"]);
  for (let at = START + HOUR; at < START + DAY; at += HOUR) {
    engine.accept({ kind: "clock", at });
    engine.accept(trade(at, TOKEN));
  }
  engine.accept({ kind: "clock", at: START + DAY - MINUTE });
  expect(readOf(engine).warnings).toEqual(["unlocked-liquidity"]);
  engine.accept(trade(START + DAY - MINUTE, TOKEN));
  engine.accept({ kind: "clock", at: START + DAY + MINUTE });
  expect(readOf(engine).warnings).toEqual([]);
});

test("the holders of an unknown pool and impossible shares are rejected", () => {
  const engine = run(locks(START, 0.5, [], "nowhere"), locks(START, 1.5));
  expect(engine.rejected).toMatchObject({ "unknown-pool": 1, malformed: 1 });
});

test("a restored engine knows the locks", () => {
  const engine = run(locks(START, 0.25));
  expect(readOf(restoreEngine(checkpointOf(engine)))).toEqual(readOf(engine));
});
