import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { FlareRecord, GROUPS, type Group, type OtherGroup } from "../../../src/base/model/index.ts";
import type {
  HistoryBatch,
  HistoryQuery,
  PastDataQuery,
} from "../../../src/extensions/history/history-records.ts";
import { type HistoryStore, openSqliteHistoryStore } from "../../../src/extensions/history/index.ts";
import { type Finish, newDirectory } from "../../support/servers/edges.ts";
import {
  finishAt,
  idOf,
  inGroup,
  MINUTE_MS,
  outcomeAt,
  START_MS,
  WITHOUT_GROUP,
  WITHOUT_PAST,
  whyAt,
} from "./flare-records.ts";

const ROOMY = { maxAgeMs: 30 * 24 * 60 * MINUTE_MS, maxBytes: 2 ** 30 };
type Limits = typeof ROOMY;

const ADAPTERS = {
  memory: (_finish: Finish, limits: Limits) => openSqliteHistoryStore(limits),
  sqlite: (finish: Finish, limits: Limits) =>
    openSqliteHistoryStore(limits, join(newDirectory(finish), "history.sqlite")),
};

function commit(store: HistoryStore, minute: number, batch: Partial<HistoryBatch>): void {
  const nowMs = START_MS + minute * MINUTE_MS;
  store.commit({ cursor: `test1-${minute}`, nowMs, starts: [], finishes: [], outcomes: [], ...batch });
}

const ids = (store: HistoryStore, query: Partial<HistoryQuery> = {}) =>
  store.page({ limit: 1_000, ...query }).map(({ key }) => key.id);

describe.each(Object.entries(ADAPTERS))("the %s store fulfills the contract", (_name, make) => {
  const opened = (finish: Finish, limits: Partial<Limits> = {}) => {
    const store = make(finish, { ...ROOMY, ...limits });
    finish(() => store.close());
    return store;
  };

  test("a new store is empty, without a position", ({ onTestFinished }) => {
    const store = opened(onTestFinished);
    expect([store.cursor, store.size, ids(store)]).toEqual([undefined, { flares: 0, bytes: 0 }, []]);
    expect([store.find(idOf(1)), store.started(idOf(1))]).toEqual([undefined, undefined]);
  });

  test("a flare is complete only after its finish, with both explanations", ({ onTestFinished }) => {
    const store = opened(onTestFinished);
    const finish = finishAt(1, 20);
    commit(store, 10, { starts: [{ id: idOf(1), at: finish.flare.started_trending_at, why: whyAt(10) }] });
    expect([store.started(idOf(1)), store.find(idOf(1))]).toEqual([whyAt(10), undefined]);
    commit(store, 20, { finishes: [finish] });
    expect(store.cursor).toBe("test1-20");
    expect(store.started(idOf(1))).toBeUndefined();
    const found = store.find(idOf(1));
    expect(FlareRecord.parse(JSON.parse(found?.body ?? ""))).toEqual({ ...finish, started: whyAt(10) });
    expect(found?.key).toEqual({ finishedMs: START_MS + 20 * MINUTE_MS, id: idOf(1) });
    expect(store.page({ limit: 9 })).toEqual([found]);
  });

  test.for(["2026-13-41T25:00:00.000Z", "0001-01-01T00:00:00.000Z"])(
    "a flare of another service that finished at %s counts as finished now",
    (at, { onTestFinished }) => {
      const store = opened(onTestFinished);
      const { flare, ...rest } = finishAt(1, 20);
      commit(store, 20, {
        starts: [{ id: idOf(2), at, why: null }],
        finishes: [{ ...rest, flare: { ...flare, finished_trending_at: at } }],
      });
      expect(store.find(idOf(1))?.key.finishedMs).toBe(START_MS + 20 * MINUTE_MS);
      expect(store.started(idOf(2))).toBeNull();
    },
  );

  test("a start that was not recorded is null", ({ onTestFinished }) => {
    const store = opened(onTestFinished);
    commit(store, 20, { finishes: [finishAt(1, 20)] });
    expect(JSON.parse(store.find(idOf(1))?.body ?? "")).toMatchObject({ started: null });
  });

  test("the final outcome replaces the first, and stays after a finish without one", ({ onTestFinished }) => {
    const store = opened(onTestFinished);
    const outcomeOf = () => JSON.parse(store.find(idOf(1))?.body ?? "").outcome;
    commit(store, 20, { finishes: [finishAt(1, 20)] });
    expect(outcomeOf()).toEqual(outcomeAt(20, false));
    const final = { id: idOf(1), outcome: outcomeAt(70, true) };
    commit(store, 70, { outcomes: [final, { ...final, id: idOf(2) }] });
    commit(store, 71, { finishes: [{ ...finishAt(1, 20), outcome: null }] });
    expect(outcomeOf()).toEqual(outcomeAt(70, true));
    const other = opened(onTestFinished);
    commit(other, 20, { finishes: [{ ...finishAt(1, 20), outcome: final.outcome }] });
    const earlier = JSON.stringify(outcomeAt(20, false)).length;
    expect(store.size).toEqual({ ...other.size, bytes: other.size.bytes + earlier });
  });

  test("a repeated batch changes only the position", ({ onTestFinished }) => {
    const store = opened(onTestFinished);
    const batch = {
      starts: [{ id: idOf(1), at: finishAt(1, 20).flare.started_trending_at, why: whyAt(10) }],
      finishes: [finishAt(1, 20), finishAt(1, 20), finishAt(2, 20)],
    };
    commit(store, 20, batch);
    const before = [store.page({ limit: 9 }), store.size];
    commit(store, 21, batch);
    expect([store.page({ limit: 9 }), store.size]).toEqual(before);
    expect(store.cursor).toBe("test1-21");
  });

  test("pages are newest first, ties by id, and continue after any record", ({ onTestFinished }) => {
    const store = opened(onTestFinished);
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    commit(store, 30, { finishes: numbers.map((number) => finishAt(number, 20 + Math.floor(number / 4))) });
    const all = store.page({ limit: 1_000 });
    const sorted = all.toSorted(
      (a, b) => b.key.finishedMs - a.key.finishedMs || (a.key.id < b.key.id ? 1 : -1),
    );
    expect(all.map(({ key }) => key)).toEqual(sorted.map(({ key }) => key));
    expect(all.length).toBe(20);
    for (const [at, { key }] of all.entries())
      expect(store.page({ limit: 3, after: key })).toEqual(all.slice(at + 1, at + 4));
  });

  test("time bounds are inclusive; address and symbol ignore case", ({ onTestFinished }) => {
    const store = opened(onTestFinished);
    commit(store, 30, { finishes: [1, 2, 3, 4].map((number) => finishAt(number, 20 + number)) });
    const at = (minute: number) => START_MS + minute * MINUTE_MS;
    expect(ids(store, { fromMs: at(22), toMs: at(23) })).toEqual([idOf(3), idOf(2)]);
    expect(ids(store, { address: "0XAB01" })).toEqual([idOf(4), idOf(1)]);
    expect(ids(store, { symbol: "tOK2" })).toEqual([idOf(2)]);
    expect(ids(store, { symbol: "tOK2", address: "0xab01" })).toEqual([]);
    expect(ids(store, { symbol: "Tok1", toMs: at(23) })).toEqual([idOf(1)]);
  });

  test("each query finds the flares of one group, and an id those of all groups", ({ onTestFinished }) => {
    const store = opened(onTestFinished);
    const { flare, ...rest } = finishAt(1, 21);
    const other = (number: number, group: OtherGroup) => ({
      flare: { ...inGroup(flare, group), id: idOf(number) },
      ...rest,
    });
    const groups = [other(2, "matic"), other(3, "exchange")];
    commit(store, 21, { finishes: [{ flare, ...rest }, ...groups] });
    expect(["bsc", undefined].map((group) => ids(store, { group: group as Group | undefined }))).toEqual([
      [idOf(1)],
      [idOf(1)],
    ]);
    const of = { matic: { group: "matic", symbol: "TOK1" }, exchange: { group: "exchange" } } as const;
    expect(ids(store, { ...of.matic, address: "0xAB01" })).toEqual([idOf(2)]);
    expect([ids(store, { ...of.exchange, address: "Tok1" }), ids(store, of.exchange)]).toEqual([
      [idOf(3)],
      [idOf(3)],
    ]);
    // An exchange may list two tokens whose symbols differ only in case.
    expect(ids(store, { ...of.exchange, address: "TOK1" })).toEqual([]);
    const tokensOf = (group: Group) => store.tokensOf({ group, symbol: "tok1", limit: 9 });
    expect(GROUPS.map(tokensOf)).toEqual([
      ["0xab01"],
      ["Tok1"],
      ["0xab01"],
      ...GROUPS.slice(3).map(() => []),
    ]);
    expect(store.outcomes({ group: "exchange", limit: 9 }).map(({ key }) => key.id)).toEqual([idOf(3)]);
    expect([1, 2, 3].map((number) => store.find(idOf(number))?.key.id)).toEqual([1, 2, 3].map(idOf));
  });

  test("records that expired in one group affect only that group's past pages", ({ onTestFinished }) => {
    const store = opened(onTestFinished, { maxAgeMs: 10 * MINUTE_MS });
    const { flare, ...rest } = finishAt(1, 20);
    commit(store, 20, { finishes: [{ flare: inGroup(flare, "exchange"), ...rest }] });
    commit(store, 31, {});
    const knownMs = START_MS + 25 * MINUTE_MS;
    const stillHas = (of: Partial<PastDataQuery>) => store.stillHas({ knownMs, ...of });
    expect([stillHas({ group: "bsc" }), stillHas({ id: idOf(2) })]).toEqual([true, true]);
    const gone = [{ group: "exchange" }, { group: "exchange", address: "Tok1" }, { id: idOf(1) }] as const;
    expect(gone.map(stillHas)).toEqual([false, false, false]);
  });

  test("records expire by the event time of later batches", ({ onTestFinished }) => {
    const store = opened(onTestFinished, { maxAgeMs: 10 * MINUTE_MS });
    commit(store, 20, { finishes: [finishAt(1, 19), finishAt(2, 20)], starts: [startOf(7, 12)] });
    commit(store, 30, {});
    expect(ids(store)).toEqual([idOf(2)]);
    expect(store.started(idOf(7))).toBeUndefined();
  });

  test("above the limit of bytes, the oldest records expire, including starts", ({ onTestFinished }) => {
    const one = opened(onTestFinished);
    commit(one, 20, { finishes: [finishAt(1, 20)] });
    const { bytes } = one.size;
    const store = opened(onTestFinished, { maxBytes: 3 * bytes + 8 });
    commit(store, 20, { starts: [startOf(9, 1)], finishes: [1, 2, 3].map((n) => finishAt(n, 20 + n)) });
    expect([ids(store), store.started(idOf(9))]).toEqual([[idOf(3), idOf(2), idOf(1)], undefined]);
    commit(store, 30, { finishes: [finishAt(4, 30)] });
    expect(ids(store)).toEqual([idOf(4), idOf(3), idOf(2)]);
    expect(store.size.bytes).toBeLessThanOrEqual(3 * bytes + 8);
  });
});

function startOf(number: number, minute: number) {
  return { id: idOf(number), at: new Date(START_MS + minute * MINUTE_MS).toISOString(), why: whyAt(minute) };
}

test("the file preserves everything when it is reopened", ({ onTestFinished }) => {
  const path = join(newDirectory(onTestFinished), "history.sqlite");
  const first = openSqliteHistoryStore(ROOMY, path);
  commit(first, 20, { starts: [startOf(2, 20)], finishes: [finishAt(1, 20)] });
  const before = [first.page({ limit: 9 }), first.size, first.cursor, first.started(idOf(2))];
  first.close();
  const second = openSqliteHistoryStore(ROOMY, path);
  onTestFinished(() => second.close());
  expect([second.page({ limit: 9 }), second.size, second.cursor, second.started(idOf(2))]).toEqual(before);
});

test("flares in a file of an earlier version do not appear in past states, but later flares do", ({
  onTestFinished,
}) => {
  const path = join(newDirectory(onTestFinished), "history.sqlite");
  const first = openSqliteHistoryStore(ROOMY, path);
  commit(first, 20, { finishes: [finishAt(1, 20)] });
  first.close();
  const db = new DatabaseSync(path);
  db.exec(WITHOUT_PAST);
  db.close();
  const second = openSqliteHistoryStore(ROOMY, path);
  onTestFinished(() => second.close());
  commit(second, 40, { outcomes: [{ id: idOf(1), outcome: outcomeAt(70, true) }] });
  const stillHas = (minute: number) => second.stillHas({ knownMs: START_MS + minute * MINUTE_MS });
  expect([stillHas(39), stillHas(40)]).toEqual([false, true]);
  const outcomeAs = (knownMs?: number) => JSON.parse(second.find(idOf(1), knownMs)?.body ?? "").outcome;
  expect([outcomeAs(), outcomeAs(START_MS + 39 * MINUTE_MS)]).toEqual([
    outcomeAt(70, true),
    outcomeAt(20, false),
  ]);
});

test("a file of version 5 opens, and its flares belong to bsc", ({ onTestFinished }) => {
  const path = join(newDirectory(onTestFinished), "history.sqlite");
  const limits = { ...ROOMY, maxAgeMs: 10 * MINUTE_MS };
  const first = openSqliteHistoryStore(limits, path);
  commit(first, 20, { finishes: [finishAt(1, 20)] });
  commit(first, 31, { finishes: [finishAt(2, 31)] });
  const before = [first.page({ limit: 9 }), first.size, first.cursor];
  first.close();
  const db = new DatabaseSync(path);
  db.exec(WITHOUT_GROUP);
  db.close();
  const second = openSqliteHistoryStore(limits, path);
  onTestFinished(() => second.close());
  expect([second.page({ limit: 9 }), second.size, second.cursor]).toEqual(before);
  expect(ids(second, { group: "matic" })).toEqual([]);
  const knownMs = START_MS + 25 * MINUTE_MS;
  const stillHas = (["bsc", "matic"] as const).map((group) => second.stillHas({ knownMs, group }));
  expect(stillHas).toEqual([false, true]);
});

test("a file of the first version opens, and its flares have no outcome", ({ onTestFinished }) => {
  const path = join(newDirectory(onTestFinished), "history.sqlite");
  const first = openSqliteHistoryStore(ROOMY, path);
  commit(first, 20, { finishes: [finishAt(1, 20)] });
  first.close();
  const db = new DatabaseSync(path);
  db.exec(
    `${WITHOUT_PAST} ALTER TABLE flare DROP COLUMN outcome; DROP TABLE candle; PRAGMA user_version = 1`,
  );
  db.close();
  const second = openSqliteHistoryStore(ROOMY, path);
  onTestFinished(() => second.close());
  expect(JSON.parse(second.find(idOf(1))?.body ?? "")).toMatchObject({ cause: "faded", outcome: null });
});

test("[L5] a store that is cleared for another market counts its bytes as a new one does", () => {
  const store = openSqliteHistoryStore(ROOMY);
  commit(store, 20, { finishes: [finishAt(1, 20)], isGenerated: true });
  const { bytes } = store.size;
  commit(store, 40, { finishes: [finishAt(2, 20), finishAt(3, 20)], isAnotherMarket: true });
  expect(store.size).toEqual({ flares: 2, bytes: 2 * bytes });
  expect(store.isGenerated).toBeUndefined();
  store.close();
});

test("a damaged record is removed at the start and named in the log, and the others remain", ({
  onTestFinished,
}) => {
  const path = join(newDirectory(onTestFinished), "history.sqlite");
  const first = openSqliteHistoryStore(ROOMY, path);
  commit(first, 20, {
    starts: [{ id: idOf(9), at: finishAt(9, 20).flare.started_trending_at, why: whyAt(10) }],
    finishes: [1, 2, 3, 4, 5].map((at) => finishAt(at, 20)),
    outcomes: [1, 2].map((at) => ({ id: idOf(at), outcome: outcomeAt(20, true) })),
  });
  first.close();
  const db = new DatabaseSync(path);
  for (const [at, column] of ["flare", "outcome", "why", "started"].entries())
    db.prepare(`UPDATE flare SET ${column} = '{' WHERE id = ?`).run(idOf(at + 1));
  db.exec("UPDATE start SET why = '{'");
  db.close();
  const named: unknown[] = [];
  const second = openSqliteHistoryStore(ROOMY, path, (_level, _message, facts) => named.push(facts?.flare));
  onTestFinished(() => second.close());
  expect(named.toSorted()).toEqual([1, 2, 3, 4].map(idOf).toSorted());
  expect([ids(second), second.size.flares, second.started(idOf(9))]).toEqual([[idOf(5)], 1, undefined]);
  expect(second.outcomes({ limit: 9 })).toHaveLength(1);
});
