import fc from "fast-check";
import { expect, test } from "vitest";
import type { Candle } from "../../../src/base/model/index.ts";
import type { HistoryReader } from "../../../src/extensions/history/history-reader.ts";
import type {
  CandleQuery,
  PastDataQuery,
  StoredRecord,
} from "../../../src/extensions/history/history-records.ts";
import { candlesThen, historyThen } from "../../../src/extensions/history/http/history-then.ts";
import { flare, snapshotOf } from "../../gateway/source/sample-snapshots.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CLOSED = Date.UTC(2026, 2, 2, 12);
const THEN = CLOSED + 30_000;

const candleAt = (openMs: number): Candle => {
  const prices = { open: "1", high: "1", low: "1", close: "1" };
  return { open_at: new Date(openMs).toISOString(), ...prices, volume: "1", buys: 1, sells: 0 };
};

/** A history of these parts. Anything else that it is asked for fails. */
const historyOf = (part: Partial<HistoryReader>) => part as HistoryReader;

/**
 * A history whose records have these ends, and that has all data. `asked`: for what it was asked.
 */
function fakeHistory(finishedMs: readonly number[] = [], has = true) {
  const asked: PastDataQuery[] = [];
  const reads: object[] = [];
  const records = finishedMs.map((ms): StoredRecord => ({ key: { finishedMs: ms, id: "a" }, body: "{}" }));
  const note =
    <T>(value: T) =>
    async (query: object) => {
      reads.push(query);
      return value;
    };
  const history = historyOf({
    stillHas: async (query) => {
      asked.push(query);
      return has;
    },
    page: note(records),
    candles: note([]),
    tokensOf: note([]),
    record: note({}) as never,
    find: async (id, knownMs) => {
      reads.push({ id, knownMs });
      return undefined;
    },
    started: async () => undefined,
  });
  return { past: historyThen(history, THEN), asked, reads };
}

test("the candles of a past minute are those of the sixty minutes before its end, without the minute after", async () => {
  const [one, other, idle] = [flare("ONE"), flare("OTHER"), flare("IDLE")];
  const from = CLOSED - 70 * MINUTE;
  const stored = Array.from({ length: 80 }, (_, n) => candleAt(from + n * MINUTE));
  const history = historyOf({
    candles: async ({ fromMs, toMs }: CandleQuery) =>
      stored.filter(({ open_at }) => Date.parse(open_at) >= fromMs && Date.parse(open_at) <= toMs),
  });
  const snapshot = snapshotOf({ free: [one], pro: [one, other, idle] }, {});
  const closed_at = new Date(CLOSED).toISOString();
  const counts = { closed_at, bsc: { [one.token.address]: 60, [other.token.address]: 60, "0xgone": 60 } };
  const served = await candlesThen(history, snapshot, counts, THEN);
  const hour = stored.slice(10, 70);
  expect(served).toEqual({ closed_at, bsc: { [one.token.address]: hour, [other.token.address]: hour } });
  for (const count of [59, 61]) {
    const wrong = { closed_at, bsc: { [one.token.address]: count } };
    await expect(candlesThen(history, snapshot, wrong, THEN)).rejects.toMatchObject({
      code: "time-gone",
      field: "at",
    });
  }
  await expect(candlesThen(history, snapshot, undefined, THEN)).rejects.toMatchObject({ code: "time-gone" });
});

test("each read asks as of then, and whether all that it would have returned is still stored", async () => {
  const { past, asked, reads } = fakeHistory([500, 400]);
  await past.find("f");
  await past.candles({ group: "bsc", address: "0xa", fromMs: 5, toMs: 9 });
  await past.tokensOf({ group: "matic", symbol: "A", limit: 3 });
  await past.record({ window: "7d", toMs: 700 * HOUR });
  await past.record({ window: "24h", group: "matic", toMs: 700 * HOUR });
  expect(reads).toEqual([
    { id: "f", knownMs: THEN },
    { group: "bsc", address: "0xa", fromMs: 5, toMs: 9, knownMs: THEN },
    { group: "matic", symbol: "A", limit: 3, knownMs: THEN },
    { window: "7d", toMs: 700 * HOUR, knownMs: THEN },
    { window: "24h", group: "matic", toMs: 700 * HOUR, knownMs: THEN },
  ]);
  expect(asked).toEqual([
    { id: "f", knownMs: THEN },
    { id: "", candlesFromMs: 5, knownMs: THEN },
    { group: "matic", symbol: "A", knownMs: THEN },
    { group: "bsc", fromMs: (700 - 168 - 1) * HOUR, toMs: 700 * HOUR, knownMs: THEN },
    { group: "matic", fromMs: (700 - 24 - 1) * HOUR, toMs: 700 * HOUR, knownMs: THEN },
  ]);
});

test("a page needs the flares from its last one on if it is full, else from its lower bound on, and none after its position", () => {
  const bound = fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: undefined });
  return fc.assert(
    fc.asyncProperty(
      fc.nat(3),
      fc.integer({ min: 1, max: 3 }),
      bound,
      bound,
      bound,
      async (count, limit, fromMs, toMs, afterMs) => {
        const finished = Array.from({ length: count }, (_, n) => 900 - n);
        const { past, asked, reads } = fakeHistory(finished);
        const after = afterMs === undefined ? undefined : { finishedMs: afterMs, id: "x" };
        const query = { limit, fromMs, toMs, after, symbol: "A" };
        await past.page(query);
        expect(reads).toEqual([{ ...query, knownMs: THEN }]);
        const upper = [toMs, afterMs].filter((ms) => ms !== undefined);
        expect(asked).toEqual([
          {
            symbol: "A",
            group: "bsc",
            fromMs: count >= limit ? finished.at(-1) : fromMs,
            toMs: upper.length === 0 ? undefined : Math.min(...upper),
            knownMs: THEN,
          },
        ]);
      },
    ),
    { numRuns: 60 },
  );
});

test("every read is refused once something of it has expired", async () => {
  const { past } = fakeHistory([], false);
  const reads = [
    past.find("f"),
    past.started("f"),
    past.page({ limit: 1 }),
    past.candles({ group: "bsc", address: "a", fromMs: 0, toMs: 1 }),
    past.tokensOf({ group: "bsc", symbol: "A", limit: 1 }),
    past.record({ window: "24h", toMs: 0 }),
  ];
  const refused = (await Promise.allSettled(reads)).map(
    (one) => one.status === "rejected" && one.reason.code,
  );
  expect(refused).toEqual(Array(6).fill("time-gone"));
});

test("the reason of a start is that of the running flare, else of the finished one, and unknown only if nothing expired", async () => {
  const started = { text: "why" } as never;
  const running = historyThen(historyOf({ started: async () => started }), THEN);
  expect(await running.started("f")).toBe(started);
  const body = JSON.stringify({ started });
  const finished = historyOf({
    started: async () => undefined,
    find: async () => ({ key: { finishedMs: 1, id: "f" }, body }),
  });
  expect(await historyThen(finished, THEN).started("f")).toEqual(started);
  const { past, asked } = fakeHistory();
  expect(await past.started("f")).toBeUndefined();
  expect(asked).toEqual([{ id: "f", knownMs: THEN, isFinishedThen: false }]);
});
