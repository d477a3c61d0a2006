import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type AnyFlare,
  EMPTY_SNAPSHOT,
  type FlareRecord,
  GROUPS,
  type Snapshot,
} from "../../../src/base/model/index.ts";
import { type Cursor, formatCursor, toEpoch } from "../../../src/base/protocol/index.ts";
import {
  type HistoryStore,
  openSqliteHistoryStore,
  writeHistory,
} from "../../../src/extensions/history/index.ts";
import { Head } from "../../../src/gateway/hub/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { ROOMY as ROOMY_LOG } from "../../contract/event-log-contract.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import {
  anyFinishAt,
  anyFlareAt,
  CANDLE,
  finishAt,
  idOf,
  listsOf,
  MINUTE_MS,
  outcomeAt,
  START_MS,
  whyAt,
} from "./flare-records.ts";

const LIMITS = { maxAgeMs: 30 * 24 * 60 * MINUTE_MS, maxBytes: 2 ** 30 };
/** Few finished flares are listed, so the lists alone cannot restore the history. */
const MAX_LISTED = 2;

/** A market in which flares start and finish each minute, with the log and head of a gateway. */
class Market {
  readonly clock = new ManualClock();
  readonly log = new MemoryLog({ ...ROOMY_LOG, clock: this.clock });
  readonly head = new Head({
    log: this.log,
    initial: { snapshot: EMPTY_SNAPSHOT, observedAtMs: START_MS },
  });
  #pro: readonly AnyFlare[] = [];
  #listed: readonly AnyFlare[] = [];
  #minute = 0;
  #started = 0;
  #finished = 0;

  /** Advances a minute. `starts` flares start, and the oldest `finishes` finish. */
  async step(starts: number, finishes: number): Promise<void> {
    const minute = ++this.#minute;
    const { explanations } = this.head.snapshot;
    const begun = Array.from({ length: starts }, () => anyFlareAt(this.#started++, minute));
    const ended = Array.from({ length: Math.min(finishes, this.#pro.length) }, () => {
      return anyFinishAt(this.#finished++, minute);
    });
    const endedIds = new Set(ended.map(({ flare }) => flare.id));
    const pro = [...begun, ...this.#pro.filter(({ id }) => !endedIds.has(id))];
    this.#pro = pro;
    const finished = [...ended.map(({ flare }) => flare), ...this.#listed].slice(0, MAX_LISTED);
    this.#listed = finished;
    const whys = {
      ...explanations,
      ...Object.fromEntries(begun.map(({ id }) => [id, whyAt(minute)])),
      ...Object.fromEntries(ended.map(({ flare, why }) => [flare.id, why])),
    };
    // Earlier flares that are still listed get a final outcome.
    const outcomes = Object.fromEntries(
      finished.map((flare) => {
        const endedNow = ended.find((one) => one.flare.id === flare.id);
        return [flare.id, endedNow?.outcome ?? outcomeAt(minute, true)];
      }),
    );
    const listed = new Set([...pro, ...finished].map(({ id }) => id));
    const snapshot: Snapshot = {
      ...EMPTY_SNAPSHOT,
      flares: listsOf(pro, finished, "bsc"),
      "flares.matic": listsOf(pro, finished, "matic"),
      outcomes,
      explanations: Object.fromEntries(
        Object.entries(whys).flatMap(([id, why]) => (listed.has(id) && why ? [[id, why]] : [])),
      ),
    };
    const observedAtMs = START_MS + minute * MINUTE_MS;
    await this.head.publish({
      events: toEvents(this.head.snapshot, snapshot, observedAtMs),
      snapshot,
      observedAtMs,
    });
  }

  /** Starts a writer that can be killed. From then on it stores nothing. */
  write(store: HistoryStore): { kill(): void } {
    const killed = new AbortController();
    const { signal } = killed;
    const mortal: Pick<HistoryStore, "cursor" | "commit"> = {
      cursor: store.cursor,
      commit: (batch) => {
        if (!signal.aborted) store.commit(batch);
      },
    };
    const { log, head, clock } = this;
    void writeHistory({ log, head, store: mortal, clock, signal, notify: expect.unreachable });
    return { kill: () => killed.abort() };
  }
}

/** Returns the records of each group. */
const stored = (store: HistoryStore) => GROUPS.flatMap((group) => store.page({ group, limit: 10_000 }));
const bodies = (store: HistoryStore) => stored(store).map(({ body }) => body);

const ops = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ starts: fc.nat(3), finishes: fc.nat(3), settles: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ down: fc.nat(5) }) },
  ),
  { minLength: 10, maxLength: 120, size: "max" },
);

test("after any kills, the history equals that of an uninterrupted writer", async ({ onTestFinished }) => {
  const directory = newDirectory(onTestFinished);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(ops, async (todo) => {
      const market = new Market();
      const path = join(directory, `${++runs}.sqlite`);
      const steady = openSqliteHistoryStore(LIMITS);
      const watcher = market.write(steady);
      let store = openSqliteHistoryStore(LIMITS, path);
      let writer = market.write(store);
      for (const op of todo) {
        if ("down" in op) {
          writer.kill();
          store.close();
          // The gateway writes its log before the history, so a kill can occur between the two.
          for (let step = 0; step < op.down; step += 1) await market.step(1, 1);
          store = openSqliteHistoryStore(LIMITS, path);
          writer = market.write(store);
        } else {
          await market.step(op.starts, op.finishes);
          if (op.settles) await turn();
        }
      }
      await turn();
      expect(bodies(store)).toEqual(bodies(steady));
      expect(store.size).toEqual(steady.size);
      watcher.kill();
      writer.kill();
      store.close();
      steady.close();
    }),
    lawRuns(3, 6),
  );
});

test("each finished flare is stored once, with the reason of its start", async () => {
  const market = new Market();
  const store = openSqliteHistoryStore(LIMITS);
  const writer = market.write(store);
  await turn();
  for (let minute = 0; minute < 300; minute += 1) await market.step(1, minute % 2);
  await turn();
  const records: FlareRecord[] = bodies(store).map((body) => JSON.parse(body));
  expect(records.map(({ flare }) => flare.id).toSorted()).toEqual(
    Array.from({ length: 150 }, (_, number) => idOf(number)).toSorted(),
  );
  for (const { flare, started, why, cause } of records) {
    // The flare with number N starts in minute N + 1.
    expect(started?.at).toBe(whyAt(Number(flare.id.slice(-12)) + 1).at);
    expect([why?.at, why?.finish_cause, cause]).toEqual([flare.finished_trending_at, "faded", "faded"]);
  }
  writer.kill();
  store.close();
});

test("a status event at wall-clock time does not expire a recording's flares", async () => {
  const market = new Market();
  const { log, head, clock } = market;
  const store = openSqliteHistoryStore(LIMITS);
  store.commit({
    ...{ cursor: formatCursor(log.head), nowMs: START_MS, starts: [], outcomes: [] },
    finishes: [finishAt(999, 0)],
  });
  await market.step(1, 0);
  const observed_at = new Date(START_MS + 2 * LIMITS.maxAgeMs).toISOString();
  const data = { state: "stale", reason: "the market has no data yet" } as const;
  await head.publish({ events: [{ name: "source-status", channel: "status", observed_at, data }] });
  const killed = new AbortController();
  void writeHistory({ log, head, store, clock, signal: killed.signal, notify: expect.unreachable });
  await turn();
  expect(store.page({ limit: 9 }).map(({ key }) => key.id)).toEqual([idOf(999)]);
  killed.abort();
  store.close();
});

test("a full disk is reported once, and so is the recovery", async () => {
  const market = new Market();
  const { log, head, clock } = market;
  const stored = openSqliteHistoryStore(LIMITS);
  let isFull = true;
  const store: Pick<HistoryStore, "cursor" | "commit"> = {
    cursor: undefined,
    commit: (batch) => {
      if (isFull) throw new Error("database or disk is full");
      stored.commit(batch);
    },
  };
  const notices: string[] = [];
  const killed = new AbortController();
  const notify = (level: string) => notices.push(level);
  void writeHistory({ log, head, store, clock, signal: killed.signal, notify });
  for (let attempt = 0; attempt < 4; attempt += 1) {
    await turn();
    clock.advance(5_000);
  }
  await turn();
  expect(notices).toEqual(["warn"]);
  isFull = false;
  await market.step(1, 1);
  clock.advance(5_000);
  await turn();
  expect([notices, stored.cursor]).toEqual([["warn", "info"], formatCursor(head.cursor)]);
  killed.abort();
  stored.close();
});

test("the writer waits while the log has started another history and the head has not", async () => {
  const { log, clock } = new Market();
  const cursors: string[] = [];
  const store = {
    cursor: undefined,
    commit: ({ cursor }: { readonly cursor: string }) => {
      cursors.push(cursor);
      // Without a limit, the test would never end.
      if (cursors.length > 9) killed.abort();
    },
  };
  const killed = new AbortController();
  const before = new MemoryLog({ ...ROOMY_LOG, clock, epoch: toEpoch("before1") }).head;
  const base = { snapshot: EMPTY_SNAPSHOT, observedAtMs: START_MS };
  const head = { ready: true, cursor: before, ...base, onRestart: () => {} };
  void writeHistory({ log, head, store, clock, signal: killed.signal, notify: expect.unreachable });
  await turn();
  expect(cursors).toEqual([]);
  head.cursor = log.head;
  clock.advance(1_000);
  await turn();
  expect(cursors).toEqual([formatCursor(log.head)]);
  killed.abort();
});

test("events that were read before the log started another history keep their cursor", async () => {
  const market = new Market();
  const { clock, head } = market;
  const open = (epoch: string) => new MemoryLog({ ...ROOMY_LOG, clock, epoch: toEpoch(epoch) });
  let log = open("before1");
  const reading = new Proxy(log, {
    get: (_, name) => {
      if (name !== "readLasting") {
        const value: unknown = Reflect.get(log, name, log);
        return typeof value === "function" ? value.bind(log) : value;
      }
      return async (after: Cursor, limit: number) => {
        const result = await log.readLasting(after, limit);
        log = open("another1");
        return result;
      };
    },
  });
  await market.step(1, 0);
  await log.append(toEvents(EMPTY_SNAPSHOT, head.snapshot, START_MS));
  const cursors: string[] = [];
  const killed = new AbortController();
  const store = {
    cursor: "before1-0",
    commit: ({ cursor }: { readonly cursor: string }) => {
      cursors.push(cursor);
      killed.abort();
    },
  };
  void writeHistory({ log: reading, head, store, clock, signal: killed.signal, notify: expect.unreachable });
  await turn();
  expect(cursors).toEqual(["before1-1"]);
});

test("a history that the log no longer continues takes the finished flares from the lists", async () => {
  const market = new Market();
  const store = openSqliteHistoryStore(LIMITS);
  store.commit({
    ...{ cursor: "another-7", nowMs: START_MS, starts: [], outcomes: [] },
    finishes: [finishAt(999, 0)],
  });
  for (const _ of [1, 2, 3, 4]) await market.step(1, 1);
  const writer = market.write(store);
  await turn();
  const [newest] = market.head.snapshot.flares.finished_trending;
  expect(store.page({ limit: 1 })[0]?.key.id).toBe(newest?.id);
  // Also from the log: earlier finishes, and the reasons of all starts.
  expect(stored(store)).toHaveLength(3 + 1);
  for (const { body, key } of stored(store))
    expect(JSON.parse(body).started === null).toBe(key.id === idOf(999));
  await market.step(0, 1);
  await turn();
  expect(stored(store)).toHaveLength(4 + 1);
  writer.kill();
  store.close();
});

test("a generated market that starts over gets a new history, while a real one continues its history", async () => {
  for (const isGenerated of [true, false]) {
    const market = new Market();
    const { log, head, clock } = market;
    const store = openSqliteHistoryStore(LIMITS);
    const candles = [{ group: "bsc", address: "0xaa", candles: [CANDLE] } as const];
    store.commit({
      ...{ cursor: "another-7", nowMs: START_MS, outcomes: [], candles, finishes: [finishAt(999, 0)] },
      starts: [{ id: idOf(998), at: whyAt(0).at, why: whyAt(0) }],
    });
    for (const _ of [1, 2]) await market.step(1, 1);
    const killed = new AbortController();
    const cleared: string[] = [];
    void writeHistory({
      ...{ log, head, store, clock, signal: killed.signal, notify: expect.unreachable },
      ...{
        isGenerated: () => isGenerated,
        onAnotherMarket: async (epoch: string) => void cleared.push(epoch),
      },
    });
    await turn();
    const earlier = [store.find(idOf(999)), store.started(idOf(998)) ?? undefined];
    const found = store.candles({ group: "bsc", address: "0xaa", fromMs: 0, toMs: 2 * START_MS });
    expect(earlier.map((one) => one === undefined)).toEqual([isGenerated, isGenerated]);
    expect(found).toHaveLength(isGenerated ? 0 : 1);
    expect(store.size.flares).toBe(isGenerated ? 1 : 2);
    expect(cleared).toEqual(isGenerated ? [log.head.epoch] : []);
    // The same epoch means the same market.
    killed.abort();
    await turn();
    const again = new AbortController();
    void writeHistory({
      ...{ log, head, store, clock, signal: again.signal, notify: expect.unreachable },
      ...{ isGenerated: () => true, onAnotherMarket: expect.unreachable },
    });
    await market.step(1, 1);
    await turn();
    expect(store.size.flares).toBe(isGenerated ? 2 : 3);
    again.abort();
    store.close();
  }
});

test("the history of a real market is not deleted while its leader serves a generated one, and continues afterwards", async () => {
  const market = new Market();
  const { log, head, clock } = market;
  const store = openSqliteHistoryStore(LIMITS);
  const before = { cursor: "another-7", nowMs: START_MS, starts: [], outcomes: [], isGenerated: false };
  store.commit({ ...before, finishes: [finishAt(999, 0)] });
  for (const _ of [1, 2]) await market.step(1, 1);
  const over = new AbortController();
  const warned = Promise.withResolvers<string>();
  const origin = { isGenerated: true };
  const writing = writeHistory({
    ...{ log, head, store, clock, signal: over.signal },
    notify: (_level, message) => warned.resolve(message),
    ...{ isGenerated: () => origin.isGenerated, onAnotherMarket: expect.unreachable },
  });
  expect(await warned.promise).toContain("use another data directory");
  expect([store.cursor, store.size.flares, store.isGenerated]).toEqual(["another-7", 1, false]);
  origin.isGenerated = false;
  clock.advance(5_000);
  await expect.poll(() => store.size.flares).toBe(2);
  over.abort();
  await writing;
  store.close();
});
