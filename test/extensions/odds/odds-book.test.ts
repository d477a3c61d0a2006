import { expect, test } from "vitest";
import { Odds, type Outcome } from "../../../src/base/model/index.ts";
import { type OddsTable, OwnOdds } from "../../../src/extensions/odds/index.ts";
import { START } from "./odds-start.ts";

/** Returns a final outcome, of which the book reads only what a holder has. */
function endedWith(held: Partial<NonNullable<Outcome["held"]>>): Outcome {
  const all = { change_15m: 5, change_60m: 10, lowest_15m: -1, change_end: 4, end_s: 600, rugged_s: null };
  return { held: { ...all, ...held } } as Outcome;
}

const RUG = endedWith({ change_15m: -100, change_60m: -100, rugged_s: 300 });

function row(n: number, rugs: number): OddsTable[string] {
  const rugged = { yes: rugs, of: n };
  const up = { yes: n / 2, of: n };
  return { n, rugged, up15: up, up60: up, fell15: up, median: 7 };
}

test("odds are those of the finest bucket with enough flares, shrunk toward the coarser one", () => {
  const table = {
    trades: row(800, 40),
    "trades age_s=0": row(300, 36),
    "trades age_s=0 locked=0": row(92, 18),
  };
  const { odds } = new OwnOdds("live", table).odds(START);
  expect(Odds.parse(odds)).toEqual(odds);
  const young = (36 + (8 * 40.5) / 801) / 308;
  expect(odds?.rug_60m?.share).toBeCloseTo((18 + 8 * young) / 100, 3);
  expect(odds).toMatchObject({
    basis: "table",
    n: 92,
    median_60m: 7,
    like: { form: "trades", age_s: { at_least: null, below: 600 }, locked: { at_least: null, below: 0.5 } },
  });
  expect(odds?.like.liquidity).toBeUndefined();
  const { low = 1, high = 0, share = 0 } = odds?.rug_60m ?? {};
  expect([low < share, share < high]).toEqual([true, true]);
});

test("an unknown fact selects the bucket of flares with any value", () => {
  const table = {
    trades: row(800, 40),
    "trades age_s=0": row(300, 36),
    "trades age_s=0 liquidity=1": row(90, 9),
  };
  const book = new OwnOdds("live", table);
  expect(book.odds({ ...START, lockedShare: null }).odds?.n).toBe(90);
  expect(book.odds({ ...START, lockedShare: null, liquidityUsd: null }).odds?.n).toBe(300);
  expect(book.odds({ ...START, lockedShare: null, liquidityUsd: null, ageS: null }).odds?.n).toBe(800);
});

test("a server's own flares replace the table as soon as there are 100 like the new one", () => {
  const table = { trades: row(800, 40), "trades age_s=0": row(300, 36) };
  const book = new OwnOdds("live", table);
  const start = { ...START, liquidityUsd: null, lockedShare: null };
  for (let n = 0; n < 99; n++) book.note(start, endedWith({}));
  expect(book.odds(start).odds).toMatchObject({ basis: "table", n: 300 });
  book.note(start, endedWith({}));
  expect(book.odds(start).odds).toMatchObject({
    basis: "server",
    n: 100,
    like: { group: "bsc" },
    rug_60m: null,
  });
  expect(book.odds({ ...start, group: "matic" }).odds?.basis).toBe("table");
});

test("a simulated market has no odds of real pools, and says why, until its own flares suffice", () => {
  const book = new OwnOdds("simulated", { trades: row(800, 40) });
  const { odds, odds_reason } = book.odds(START);
  expect(odds).toBeNull();
  expect(odds_reason).toMatch(
    /^the market is simulated, so the table of real pools does not apply.* of 0 flares/,
  );
  for (let n = 0; n < 29; n++) book.note(START, n % 4 === 0 ? RUG : endedWith({}));
  expect(book.odds(START).odds).toBeNull();
  for (let n = 29; n < 100; n++) book.note(START, n % 4 === 0 ? RUG : endedWith({}));
  const known = book.odds(START).odds;
  expect(known).toMatchObject({ basis: "server", n: 100, median_60m: 10 });
  expect(known?.rug_60m?.share).toBeCloseTo(0.25, 1);
  expect(known?.up_15m?.share).toBeCloseTo(0.75, 1);
});

test("a flare is never like those of tokens of another age", () => {
  const book = new OwnOdds("simulated", {});
  for (let n = 0; n < 200; n++) book.note({ ...START, ageS: 60 }, RUG);
  expect(book.odds({ ...START, ageS: 60 }).odds).toMatchObject({ n: 200 });
  expect(book.odds({ ...START, ageS: 90_000 })).toMatchObject({
    odds: null,
    odds_reason: expect.stringContaining("of 0 flares like it"),
  });
});

test("on an exchange, a fall can be told, but not a rise", () => {
  const book = new OwnOdds("live", {});
  const start = { ...START, group: "exchange", form: "seconds", liquidityUsd: null, ageS: null } as const;
  expect(book.odds(start).odds_reason).toMatch(/^no real flares of this form/);
  for (let n = 0; n < 120; n++) book.note(start, endedWith({ lowest_15m: n % 3 === 0 ? -3 : -2.9 }));
  expect(book.odds(start).odds).toMatchObject({ n: 120, rug_60m: null, up_15m: null, up_60m: null });
  expect(book.odds(start).odds?.fall_15m?.share).toBeCloseTo(1 / 3, 1);
});

test("[L4] a book that continues from its stored state gives the same odds", () => {
  const steady = new OwnOdds("live", {});
  let resumed = new OwnOdds("live", {});
  for (let n = 0; n < 250; n++) {
    const start = { ...START, ageS: (n * 37) % 5_000, liquidityUsd: 1_000 * (n % 200) };
    for (const book of [steady, resumed]) book.note(start, n % 5 === 0 ? RUG : endedWith({ change_60m: n }));
    if (n % 40 === 0) resumed = new OwnOdds("live", {}, JSON.parse(JSON.stringify(resumed.state)));
    expect(resumed.odds(start)).toEqual(steady.odds(start));
  }
});
