import fc from "fast-check";
import { expect, test } from "vitest";
import type { Outcome } from "../../../src/base/model/index.ts";
import { keysOf, pathOf } from "../../../src/extensions/odds/buckets.ts";
import { estimateShare, medianOf } from "../../../src/extensions/odds/estimate.ts";
import { type OddsTable, OwnOdds } from "../../../src/extensions/odds/index.ts";
import { addOutcome, createTally } from "../../../src/extensions/odds/tally.ts";
import { START } from "./odds-start.ts";

const lastKeyOf = (part: object) => pathOf({ ...START, ...part }).at(-1)?.key;

/** A bound belongs to the range above it. */
const BOUNDS: readonly (readonly [part: object, key: string | undefined])[] = [
  [{ ageS: 599 }, "trades age_s=0 locked=0 liquidity=1"],
  [{ ageS: 600 }, "trades age_s=1 locked=0 liquidity=1"],
  [{ ageS: 3_600 }, "trades age_s=2 locked=0 liquidity=1"],
  [{ ageS: 86_399 }, "trades age_s=2 locked=0 liquidity=1"],
  [{ ageS: 86_400 }, "trades age_s=3 locked=0 liquidity=1"],
  [{ lockedShare: 0.49 }, "trades age_s=0 locked=0 liquidity=1"],
  [{ lockedShare: 0.5 }, "trades age_s=0 locked=1 liquidity=1"],
  [{ liquidityUsd: 19_999 }, "trades age_s=0 locked=0 liquidity=0"],
  [{ liquidityUsd: 20_000 }, "trades age_s=0 locked=0 liquidity=1"],
  [{ liquidityUsd: 100_000 }, "trades age_s=0 locked=0 liquidity=2"],
  [{ liquidityUsd: null, lockedShare: null }, "trades age_s=0"],
  [{ form: "reports" }, "reports age_s=0 liquidity=1"],
  [{ form: "candles", score: 2.49 }, "candles score=0"],
  [{ form: "candles", score: 2.5 }, "candles score=1"],
  [{ form: "seconds", score: 3.5 }, "seconds score=2"],
  [{ form: undefined }, undefined],
];

test.each(BOUNDS)("a start with %j is in its bucket", (part, key) => {
  expect(lastKeyOf(part)).toBe(key);
});

test("a start counts in every bucket with some of its dimensions, and its ranges name their bounds", () => {
  const start = { ...START, form: "reports" } as const;
  expect(keysOf(start)).toEqual([
    "reports",
    "reports age_s=0",
    "reports liquidity=1",
    "reports age_s=0 liquidity=1",
  ]);
  expect(pathOf(start).at(-1)?.ranges).toEqual({
    age_s: { at_least: null, below: 600 },
    liquidity: { at_least: 20_000, below: 100_000 },
  });
  expect(keysOf({ ...START, form: undefined })).toEqual([]);
});

test("a share shrinks toward the coarser one and has Wilson's interval, as an independent computation gives them", () => {
  const counted = fc.integer({ min: 1, max: 300 }).chain((of) => fc.nat(of).map((yes) => ({ yes, of })));
  fc.assert(
    fc.property(fc.array(counted, { minLength: 1, maxLength: 3 }), (path) => {
      let [share, n] = [0.5, 1];
      for (const [index, { yes, of }] of path.entries()) {
        const prior = index === 0 ? 1 : 8;
        share = (yes + prior * share) / (of + prior);
        n = index === 0 ? of : of + 8;
      }
      const square = 1.6449 * 1.6449;
      const root = Math.sqrt(square * (4 * n * share * (1 - share) + square));
      const ends = [-1, 1].map((sign) => (2 * n * share + square + sign * root) / (2 * (n + square)));
      const found = estimateShare(path);
      for (const [is, ought] of [
        [found?.share, share],
        [found?.low, ends[0]],
        [found?.high, ends[1]],
      ] as const)
        expect(Math.abs((is ?? 9) - (ought ?? 0))).toBeLessThan(0.000_501);
    }),
    { numRuns: 100 },
  );
  expect([estimateShare([]), estimateShare([{ yes: 0, of: 0 }])]).toEqual([null, null]);
  expect([medianOf([]), medianOf([3]), medianOf([9, 1]), medianOf([5, 1, 9.04])]).toEqual([null, 3, 5, 5]);
});

const held = (part: object) =>
  ({ held: { change_15m: 1, change_60m: 2, lowest_15m: -1, rugged_s: null, ...part } }) as never as Outcome;

test("an outcome counts as risen above 0, as fallen from −3 % on, as rugged if its liquidity is known, and else not at all", () => {
  const counts = (part: object, knows = true) => {
    const tally = createTally();
    addOutcome(tally, held(part), knows);
    const { n, rugged, up15, up60, fell15, changes } = tally;
    return [n, ...[rugged, up15, up60, fell15].map(({ yes, of }) => `${yes}/${of}`), changes.length].join(
      " ",
    );
  };
  expect(counts({})).toBe("1 0/1 1/1 1/1 0/1 1");
  expect(counts({ change_15m: 0, change_60m: 0 })).toBe("1 0/1 0/1 0/1 0/1 1");
  expect(counts({ lowest_15m: -3 })).toBe("1 0/1 1/1 1/1 1/1 1");
  expect(counts({ lowest_15m: -2.99 })).toBe("1 0/1 1/1 1/1 0/1 1");
  expect(counts({ rugged_s: 0 })).toBe("1 1/1 1/1 1/1 0/1 1");
  expect(counts({ rugged_s: 0 }, false)).toBe("1 0/0 1/1 1/1 0/1 1");
  expect(counts({ change_15m: null, change_60m: null, lowest_15m: null })).toBe("1 0/1 0/0 0/0 0/0 0");
});

test("the median is that of the latest 64 changes", () => {
  const tally = createTally();
  for (let change = 0; change < 70; change++) addOutcome(tally, held({ change_60m: change }), true);
  expect(tally.changes).toEqual(Array.from({ length: 64 }, (_, n) => n + 6));
});

function row(n: number): OddsTable[string] {
  const half = { yes: n / 2, of: n };
  return { n, rugged: half, up15: half, up60: half, fell15: half, median: 7 };
}
/** Returns what a book says after its own server has seen `own` flares like the start. */
function basisAfter(own: number, table: OddsTable, part: object = {}, origin: "live" | "simulated" = "live") {
  const book = new OwnOdds(origin, table);
  const start = { ...START, ...part };
  for (let n = 0; n < own; n++) book.note(start, held({}));
  const { odds, odds_reason } = book.odds(start);
  return odds === null ? odds_reason : `${odds?.basis} ${odds?.n}`;
}

test("a server's own flares replace the table from 100 on, and stand alone from 30 on; ten are enough in the table", () => {
  const FULL = Object.fromEntries(keysOf(START).map((key) => [key, row(10)]));
  expect([basisAfter(99, FULL), basisAfter(100, FULL)]).toEqual(["table 10", "server 100"]);
  const few = Object.fromEntries(keysOf(START).map((key) => [key, row(9)]));
  expect([basisAfter(29, few), basisAfter(30, few)]).toEqual([
    expect.stringMatching(/^this server has the outcomes of 29 .*need 30$/),
    "server 30",
  ]);
  expect(basisAfter(0, FULL, {}, "simulated")).toMatch(
    /^the market is simulated, .* of 0 flares like it in bsc/,
  );
  expect(basisAfter(0, {}, { form: "candles", group: "exchange" })).toMatch(
    /^no real flares of this form were measured, and/,
  );
});

test("a flare without what a holder gained teaches nothing, and a book continues from its state", () => {
  const book = new OwnOdds("live", {});
  book.note(START, {} as Outcome);
  expect(book.state).toEqual({});
  for (let n = 0; n < 30; n++) book.note(START, held({}));
  const again = new OwnOdds("live", {}, book.state);
  book.note(START, held({}));
  expect([again.odds(START).odds?.n, book.odds(START).odds?.n]).toEqual([30, 31]);
  expect(again.odds({ ...START, group: "matic" }).odds).toBeNull();
});
