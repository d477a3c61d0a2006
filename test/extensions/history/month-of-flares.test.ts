import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { RecordKey } from "../../../src/extensions/history/history-records.ts";
import { type HistoryStore, openSqliteHistoryStore } from "../../../src/extensions/history/index.ts";
import { recordOf } from "../../../src/extensions/history/track-record.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { createChance } from "../../support/random/chance.ts";
import { finishAt, idOf, MINUTE_MS, outcomeAt, START_MS } from "./flare-records.ts";

const DAYS = IS_SOAK ? 30 : 8;
const FLARES_A_DAY = 300;
const MONTH = DAYS * FLARES_A_DAY;
const MINUTES = DAYS * 24 * 60;
/** Limits within which nothing expires during the test. */
const LIMITS = { maxAgeMs: 2 * MINUTES * MINUTE_MS, maxBytes: 2 ** 30 };

/** Returns the minute in which the flare with this number finishes, often with several others. */
const minuteOf = (number: number) => 20 + Math.floor((number * (MINUTES - 40)) / MONTH / 7) * 7;

/** Creates a store with a month of flares, and a function that finishes the next ones. */
function openMonth(): { readonly store: HistoryStore; readonly finish: (count: number) => void } {
  const store = openSqliteHistoryStore(LIMITS);
  let number = 0;
  const finish = (count: number) => {
    const numbers = Array.from({ length: count }, () => number++);
    const finishes = numbers.map((one) => finishAt(one, minuteOf(one)));
    const finals = numbers.map((one) => ({ id: idOf(one), outcome: outcomeAt(minuteOf(one), true) }));
    const nowMs = START_MS + minuteOf(number) * MINUTE_MS;
    store.commit({ cursor: `test1-${number}`, nowMs, starts: [], finishes, outcomes: finals });
  };
  finish(MONTH);
  return { store, finish };
}

/** Reads page by page. Calls `between` after each page. */
function readPages(store: HistoryStore, query: object, limit: () => number, between: () => void) {
  const seen: string[] = [];
  let after: RecordKey | undefined;
  for (;;) {
    const page = store.page({ ...query, after, limit: limit() });
    if (page.length === 0) return seen;
    seen.push(...page.map(({ key }) => key.id));
    after = page.at(-1)?.key;
    between();
  }
}

test(`paging through ${DAYS} days of 300 flares a day returns each flare once, while others finish and get outcomes`, () => {
  const chance = createChance(1);
  const { store, finish } = openMonth();
  for (const query of [{}, { symbol: "TOK1" }, { address: "0xab02" }]) {
    const stored = store.page({ ...query, limit: 2 * MONTH }).map(({ key }) => key.id);
    expect(stored.length).toBeGreaterThanOrEqual("symbol" in query || "address" in query ? MONTH / 3 : MONTH);
    const limit = () => chance.whole(1, 201);
    const seen = readPages(store, query, limit, () => finish(chance.whole(0, 4)));
    expect(seen).toEqual(stored);
  }
  store.close();
});

test(`while the record of ${DAYS} days is computed, other work gets a turn after each 200 flares and each row's figure`, async () => {
  const { store } = openMonth();
  let [turns, isOver] = [0, false];
  const other = (async () => {
    for (; !isOver; turns += 1) await turn();
  })();
  const record = await recordOf(store, { window: "30d", toMs: START_MS + MINUTES * MINUTE_MS });
  isOver = true;
  await other;
  expect(record.all.flares).toBeGreaterThan(MONTH - FLARES_A_DAY);
  const rows = 1 + record.by_score.length + record.by_liquidity.length;
  expect(turns).toBeGreaterThanOrEqual(MONTH / 200 + rows * record.all.after.length - 1);
  store.close();
});
