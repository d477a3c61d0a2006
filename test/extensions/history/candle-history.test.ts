import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Candle, type Candles, EMPTY_SNAPSHOT, NO_CANDLES } from "../../../src/base/model/index.ts";
import {
  type HistoryStore,
  openSqliteHistoryStore,
  writeHistory,
} from "../../../src/extensions/history/index.ts";
import { Head } from "../../../src/gateway/hub/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { ROOMY } from "../../contract/event-log-contract.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { finishAt, MINUTE_MS, START_MS, WITHOUT_PAST } from "./flare-records.ts";

const DAY_MS = 24 * 60 * MINUTE_MS;
const LIMITS = { maxAgeMs: 30 * DAY_MS, maxBytes: 2 ** 30 };
const TOKENS = ["0xAA", "0xbB"] as const;
const ALL = { group: "bsc", fromMs: 0, toMs: Number.MAX_SAFE_INTEGER } as const;

const candleOf = (minute: number, trades: number): Candle => ({
  open_at: new Date(START_MS + minute * MINUTE_MS).toISOString(),
  open: "1",
  high: "2.5",
  low: "0.5",
  close: "1.25",
  volume: String(100 + trades),
  buys: trades,
  sells: 1,
});
const batchOf = (address: string, candles: readonly Candle[], minute: number) => ({
  cursor: "a-1",
  nowMs: START_MS + minute * MINUTE_MS,
  starts: [],
  finishes: [],
  outcomes: [],
  candles: [{ group: "bsc", address, candles }] as const,
});
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

/** The events of a minute: how often each token trades, and whether its last candle is amended. */
const Minutes = fc.array(
  fc.record({ trades: fc.tuple(fc.nat(3), fc.nat(3)), isAmended: fc.boolean(), down: fc.nat(9) }),
  { minLength: 70, maxLength: 200 },
);

test("after any kills, the history has the candles that were sent, each in its latest version", async ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(Minutes, async (minutes) => {
      const clock = new ManualClock();
      const log = new MemoryLog({ ...ROOMY, clock });
      const head = new Head({ log, initial: { snapshot: EMPTY_SNAPSHOT, observedAtMs: START_MS } });
      const path = join(directory, `${++runs}.sqlite`);
      let stop = () => {};
      const open = (): HistoryStore => {
        const opened = openSqliteHistoryStore(LIMITS, path);
        const killed = new AbortController();
        const commit: HistoryStore["commit"] = (batch) => {
          if (!killed.signal.aborted) opened.commit(batch);
        };
        const store = { cursor: opened.cursor, commit };
        void writeHistory({ log, head, store, clock, signal: killed.signal, notify: expect.unreachable });
        stop = () => {
          killed.abort();
          opened.close();
        };
        return opened;
      };
      let store = open();
      let candles: Candles = NO_CANDLES;
      const sent = new Map<string, Candle>();
      for (const [minute, { trades, isAmended, down }] of minutes.entries()) {
        const next = TOKENS.map((token, n): [string, Candle[]] => {
          const count = trades[n] ?? 0;
          const before = (candles.bsc[token] ?? []).filter(
            ({ open_at }) => Date.parse(open_at) > START_MS + (minute - 60) * MINUTE_MS,
          );
          const last = before.at(-1);
          if (last && isAmended) before.splice(-1, 1, { ...last, volume: `${last.volume}.5` });
          return [token, count === 0 ? before : [...before, candleOf(minute, count)]];
        });
        candles = { closed_at: candleOf(minute + 1, 0).open_at, bsc: Object.fromEntries(next) };
        for (const [token, some] of next) for (const one of some) sent.set(token + one.open_at, one);
        const snapshot = { ...EMPTY_SNAPSHOT, candles };
        const observedAtMs = START_MS + (minute + 1) * MINUTE_MS;
        const events = toEvents(head.snapshot, snapshot, observedAtMs);
        if (events.length > 0) await head.publish({ events, snapshot, observedAtMs });
        if (down > 0) continue;
        stop();
        store = open();
      }
      await turn();
      for (const token of TOKENS) {
        const expected = [...sent].flatMap(([key, candle]) => (key.startsWith(token) ? [candle] : []));
        expect(store.candles({ ...ALL, address: token.toUpperCase() })).toEqual(expected);
      }
      stop();
    }),
    lawRuns(3, 10),
  );
});

test("candles are read by time, and expire with age and by bytes, the oldest first and before flares", () => {
  const store = openSqliteHistoryStore({ maxAgeMs: 2 * DAY_MS, maxBytes: 8_000 });
  const find = (from: number, to: number) =>
    store.candles({
      group: "bsc",
      address: "0xaa",
      fromMs: START_MS + from * MINUTE_MS,
      toMs: START_MS + to * MINUTE_MS,
    });
  store.commit(
    batchOf(
      "0xAA",
      range(0, 200).map((minute) => candleOf(minute, minute)),
      200,
    ),
  );
  expect(find(59, 61).map(({ buys }) => buys)).toEqual([59, 60, 61]);
  expect(find(0, 500)).toHaveLength(200);
  expect(store.candles({ ...ALL, address: "0xbb" })).toEqual([]);
  // A past minute of the first day shows the candles of the day before.
  store.commit(batchOf("0xBB", [], 3 * 24 * 60 + 50));
  expect(find(0, 500)).toHaveLength(200);
  store.commit(batchOf("0xBB", [], 3 * 24 * 60 + 90));
  expect(find(0, 500).at(0)?.buys).toBe(60);
  const many = range(0, 3_000).map((minute) => candleOf(minute + 1_000, (minute * 7_919) % 65_536));
  store.commit({ ...batchOf("0xaa", many, 4_000), finishes: [finishAt(1, 1_200)] });
  expect(store.size.flares).toBe(1);
  expect(store.size.bytes).toBeLessThanOrEqual(8_000);
  expect(find(0, 5_000).at(0)?.open_at).not.toBe(candleOf(1_000, 0).open_at);
  expect(find(0, 5_000).at(-1)).toEqual(many.at(-1));
  store.close();
});

test("a file of the version without candles is continued", ({ onTestFinished }) => {
  const path = join(newDirectory(onTestFinished), "history.sqlite");
  const before = openSqliteHistoryStore(LIMITS, path);
  before.commit({ ...batchOf("0xaa", [], 0), finishes: [finishAt(1, 20)] });
  before.close();
  const db = new DatabaseSync(path);
  db.exec(`${WITHOUT_PAST} DROP TABLE candle; PRAGMA user_version = 2`);
  db.close();
  const store = openSqliteHistoryStore(LIMITS, path);
  expect(store.size.flares).toBe(1);
  store.commit(batchOf("0xaa", [candleOf(0, 1)], 1));
  expect(store.candles({ ...ALL, address: "0xaa" })).toEqual([candleOf(0, 1)]);
  store.close();
});

test("a damaged hour of candles is reported and replaced, and no other hour is lost", ({
  onTestFinished,
}) => {
  const path = join(newDirectory(onTestFinished), "candles.sqlite");
  const reports: unknown[] = [];
  const before = openSqliteHistoryStore(LIMITS, path);
  for (const minute of [0, 61]) before.commit(batchOf("0xaa", [candleOf(minute, 1)], minute));
  before.close();
  const file = new DatabaseSync(path);
  file.exec("UPDATE candle SET body = x'00' WHERE hour_ms = (SELECT min(hour_ms) FROM candle)");
  file.close();
  const store = openSqliteHistoryStore(LIMITS, path, (...report) => reports.push(report));
  for (const _again of [1, 2]) expect(store.candles({ ...ALL, address: "0xaa" })).toEqual([candleOf(61, 1)]);
  expect(() => store.candles({ ...ALL, address: "0xaa", knownMs: Date.now() })).toThrow("end of file");
  store.commit(batchOf("0xaa", [candleOf(1, 2)], 62));
  expect(store.candles({ ...ALL, address: "0xaa" })).toEqual([candleOf(1, 2), candleOf(61, 1)]);
  expect(reports).toEqual([
    ["warn", expect.stringContaining("omitting a damaged hour of candles: "), expect.anything()],
    ["warn", expect.stringContaining("replacing a damaged hour of candles: "), expect.anything()],
  ]);
  store.close();
});
