import { expect, test } from "vitest";
import { checkpointOf, restoreEngine } from "../../src/app/data/engine-checkpoints.ts";
import type { Explanation, Odds, Outcome } from "../../src/base/model/index.ts";
import { type FlareStart, type OddsBook, TrendEngine } from "../../src/engine/index.ts";
import { oddsOf } from "../../src/engine/odds-book.ts";
import { openOdds } from "../../src/extensions/odds/index.ts";
import { crowdOf, playScripts } from "./trade-market.ts";
import { address, liquidity, MINUTE, SECOND, START, withClocks } from "./trend-kit.ts";

const MINUTES = 200;
const PUMPED = [1, 2, 3, 4, 5, 6];
/** The token whose liquidity is removed half an hour after its flare has ended. */
const RUGGED = address(1);

/** Each token flares once. */
function marketEvents() {
  const pumped = PUMPED.map((n) => {
    const isHot = (minute: number) => minute >= 60 + 8 * n && minute < 68 + 8 * n;
    const rate = (minute: number) => (isHot(minute) ? 15 : 0.8);
    const buyShare = (minute: number) => (isHot(minute) ? 0.9 : 0.5);
    return { token: address(n), usd: 300, rate, buyShare };
  });
  const events = [
    ...playScripts([...crowdOf(4), ...pumped], MINUTES),
    liquidity(START + 115 * MINUTE, RUGGED, "900", "remove"),
  ];
  return withClocks(events, START + MINUTES * MINUTE, START - 3 * SECOND);
}

/** Answers with the number of outcomes that it has. */
class CountingBook implements OddsBook {
  readonly asked: FlareStart[] = [];
  readonly noted: { readonly start: FlareStart; readonly outcome: Outcome }[] = [];
  readonly state = {};

  odds(start: FlareStart) {
    this.asked.push(start);
    const n = this.asked.length;
    const none = { rug_60m: null, up_15m: null, up_60m: null, median_60m: null };
    const odds: Odds = { basis: "server", like: { form: "trades" }, n, ...none };
    return { odds };
  }

  note(start: FlareStart, outcome: Outcome): void {
    this.noted.push({ start, outcome });
  }
}

test("a flare's odds are asked once, at its start, and stay the same in its explanations and outcome", () => {
  const book = new CountingBook();
  const engine = new TrendEngine({ openOdds: () => book });
  const given = new Map<string, Explanation["odds"]>();
  for (const event of marketEvents()) {
    engine.accept(event);
    if (event.kind !== "clock") continue;
    const { explanations, outcomes } = engine.snapshot();
    for (const [id, { odds }] of Object.entries(explanations)) {
      if (!given.has(id)) given.set(id, odds);
      expect([odds, outcomes[id]?.odds ?? odds]).toEqual([given.get(id), given.get(id)]);
    }
  }
  expect(given.size).toBe(PUMPED.length);
  expect(new Set([...given.values()].map((odds) => odds?.n))).toEqual(new Set(PUMPED));
  const [first] = book.asked;
  expect(first).toMatchObject({ group: "bsc", form: "trades" });
  expect(first?.liquidityUsd).toBeGreaterThan(10_000);
  // An hour and eight minutes after the listing, or a little more.
  expect(first?.ageS).toBeGreaterThan(68 * 60);
});

test("the book learns each final outcome once, also of liquidity that was removed after the flare had ended", () => {
  const book = new CountingBook();
  const engine = new TrendEngine({ openOdds: () => book });
  for (const event of marketEvents()) engine.accept(event);
  expect(book.noted.map(({ start }) => start.token).sort()).toEqual(PUMPED.map(address));
  const rugged = book.noted.filter(({ outcome }) => outcome.held?.rugged_s !== null);
  expect(rugged.map(({ start }) => start.token)).toEqual([RUGGED]);
  const { outcome } = rugged[0] ?? {};
  expect(outcome?.ended_by).not.toBe("canary");
  expect(outcome?.held).toMatchObject({ change_60m: -100 });
  expect(outcome?.held?.change_end).toBeGreaterThan(-100);
});

test("[L4] an engine restored at any cut gives the same odds", () => {
  const options = { openOdds: openOdds("recorded") };
  const events = marketEvents();
  const steady = new TrendEngine(options);
  let resumed = new TrendEngine(options);
  for (const [index, event] of events.entries()) {
    steady.accept(event);
    resumed.accept(event);
    if (index % 2_000 === 1_999)
      resumed = restoreEngine(JSON.parse(JSON.stringify(checkpointOf(resumed))), options);
  }
  expect(resumed.snapshot()).toEqual(steady.snapshot());
  const { explanations } = steady.snapshot();
  expect(Object.values(explanations).map(({ odds }) => odds?.basis)).toEqual(PUMPED.map(() => "table"));
});

test("a flare keeps its odds, and why it has none; without a book it has neither", () => {
  const odds_reason = "too few";
  const given = (why: object) => oddsOf({ explanation: why });
  expect(given({ odds: null, odds_reason, score: 3 })).toEqual({ odds: null, odds_reason });
  expect(given({ odds: null })).toStrictEqual({ odds: null });
  expect([given({ odds_reason }), oddsOf(null)]).toEqual([{}, {}]);
});
