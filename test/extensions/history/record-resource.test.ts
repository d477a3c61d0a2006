import { expect } from "vitest";
import type { Odds, OtherGroup, Outcome, TrackRecord } from "../../../src/base/model/index.ts";
import { RecordBodies } from "../../../src/extensions/history/http/record-bodies.ts";
import { createHistoryReader, openSqliteHistoryStore } from "../../../src/extensions/history/index.ts";
import { openMinuteStore } from "../../../src/extensions/history/minute-store.ts";
import { type Rest, test as restTest } from "../../gateway/http/rest/rest-fixture.ts";
import { SAMPLE_OUTCOME } from "../../support/world/samples.ts";
import { finishAt, inGroup, MINUTE_MS, START_MS } from "./flare-records.ts";

const DAY = 24 * 60;

interface Served {
  readonly rest: Rest;
  /** Returns how often a record was computed. */
  readonly computed: () => number;
  /** Stores a flare that finished in that minute. */
  finish(minute: number, outcome: Partial<Outcome>, group?: OtherGroup): void;
}

const test = restTest.extend<{ served: Served }>({
  served: async ({ makeRest }, use) => {
    const store = openSqliteHistoryStore({ maxAgeMs: 30 * DAY * MINUTE_MS, maxBytes: 2 ** 30 });
    const reader = createHistoryReader(store);
    let [computed, number] = [0, 0];
    const record = (query: Parameters<typeof reader.record>[0]) => {
      computed += 1;
      return reader.record(query);
    };
    const rest = await makeRest({
      history: {
        ...reader,
        get flaresVersion() {
          return reader.flaresVersion;
        },
        record,
      },
    });
    rest.head.observedAtMs = START_MS + 100 * MINUTE_MS;
    const finish = (minute: number, outcome: Partial<Outcome>, group?: OtherGroup) => {
      number += 1;
      const { flare: ofBsc, ...rest } = finishAt(number, minute);
      const flare = group ? inGroup(ofBsc, group) : ofBsc;
      const finishes = [{ flare, ...rest, outcome: { ...SAMPLE_OUTCOME, final: true, ...outcome } }];
      const nowMs = START_MS + minute * MINUTE_MS;
      store.commit({ cursor: `test1-${number}`, nowMs, starts: [], finishes, outcomes: [] });
    };
    await use({ rest, finish, computed: () => computed });
    store.close();
  },
});

async function getRecord({ rest }: Served, query = ""): Promise<TrackRecord> {
  const { status, json } = await rest.ask("GET", `/api/v1/record${query}`);
  expect(status).toBe(200);
  return json as TrackRecord;
}

test("the record has median, quartiles and the share that rose, beside the control, and the canary's warnings", async ({
  served,
}) => {
  const changes = [-10, -2, 0, 3, 8];
  for (const [index, change_15m] of changes.entries())
    served.finish(20 + index, {
      change_15m,
      control: { change_5m: [], change_15m: [1, -1], change_60m: [] },
    });
  served.finish(30, { ended_by: "canary", collapse_warning_s: 40, collapsed_at: "2026-01-01T00:30:00.000Z" });
  served.finish(31, { ended_by: "faded", collapse_warning_s: 0, collapsed_at: "2026-01-01T00:31:00.000Z" });
  const { all } = await getRecord(served);
  expect(all).toMatchObject({ flares: 7, ended_by_canary: 1, canary_share: 0.1429, collapsed: 2, warned: 1 });
  expect(all.warning_s).toEqual({ q1: 10, median: 20, q3: 30 });
  const [after5, after15, after60] = all.after;
  expect(after15).toMatchObject({ minutes: 15, n: 5, rose: 0.4, q1: -2, median: 0, q3: 3 });
  expect(after15?.control).toMatchObject({ n: 12 });
  expect([after5?.n, after60?.n, after60?.rose]).toEqual([7, 0, null]);
  expect([after5?.unknown, after15?.unknown, after60?.unknown]).toEqual([0, 2, 7]);
});

test("a window counts flares whose outcome became final within it, up to a minute ago", async ({
  served,
}) => {
  // Flares last ten minutes, so an outcome becomes final 50 minutes after the finish.
  for (const minute of [10, 48, 49, 50]) served.finish(minute, {});
  expect(await getRecord(served)).toMatchObject({
    window: "24h",
    all: { flares: 3 },
    first_at: "2026-01-01T01:00:00.000Z",
    last_at: "2026-01-01T01:39:00.000Z",
  });
  served.rest.head.observedAtMs = START_MS + (DAY + 61) * MINUTE_MS;
  expect(await getRecord(served)).toMatchObject({ all: { flares: 3 } });
  expect(await getRecord(served, "?window=7d")).toMatchObject({ window: "7d", all: { flares: 4 } });
  served.rest.head.observedAtMs = START_MS + 31 * DAY * MINUTE_MS;
  expect(await getRecord(served, "?window=30d")).toMatchObject({ all: { flares: 0, canary_share: null } });
});

const HELD = { change_15m: 5, change_60m: null, lowest_15m: -1, change_end: 10, end_s: 700, rugged_s: null };

test("the first row buys at each start and sells at the end, also tokens that nobody can sell, and gives a verdict from 30 flares on", async ({
  served,
}) => {
  const control = { change_5m: [50], change_15m: [1, -1], change_60m: [70] };
  served.finish(19, { held: { ...HELD, change_end: null } });
  served.finish(20, { control, start_liquidity: "20000", held: HELD });
  served.finish(21, { control, start_liquidity: null, held: { ...HELD, change_end: -100, rugged_s: 600 } });
  const few = (await getRecord(served)).trades;
  // Two fees of 0.3 %, and twice the slippage of $100 in $10,000.
  const gain = 100 * ((1.1 * 0.997) / 1.003 / 1.01 ** 2 - 1);
  expect(few).toMatchObject({ n: 2, unknown: 1, worthless: 1, rugged_60m: 1, won: 0.5, control: { n: 4 } });
  expect(few?.mean).toBeCloseTo((gain - 100) / 2, 2);
  expect(few?.text).toMatch(/no verdict, because 2 is too few/);
  for (let minute = 22; minute < 50; minute++) served.finish(minute, { control, held: HELD });
  served.rest.head.observedAtMs += 10 * MINUTE_MS;
  expect((await getRecord(served)).trades?.text).toMatch(
    /\(n 30, 1 of them worthless; 1 rugged within the hour\).*\(n 60, known prices only\)\. The flares did better/,
  );
});

test("the record compares what the odds said with what happened", async ({ served }) => {
  const odds = (rug: number): Odds => ({
    basis: "table",
    like: { form: "trades" },
    n: 40,
    rug_60m: { share: rug, low: 0, high: 1 },
    up_15m: { share: 0.5, low: 0, high: 1 },
    up_60m: null,
    median_60m: null,
  });
  served.finish(20, { odds: odds(0.15), held: { ...HELD, rugged_s: 600 } });
  served.finish(21, { odds: odds(0.17), held: { ...HELD, change_15m: -3 } });
  served.finish(22, { odds: odds(0.01), held: { ...HELD, change_15m: null } });
  served.finish(23, { odds: null, held: HELD });
  expect((await getRecord(served)).calibration).toEqual({
    rug_60m: [
      { from: 0, to: 0.02, n: 1, said: 0.01, observed: 0 },
      { from: 0.1, to: 0.2, n: 2, said: 0.16, observed: 0.5 },
    ],
    up_15m: [{ from: 0.4, to: 0.6, n: 2, said: 0.5, observed: 0.5 }],
    fall_15m: [],
  });
});

test("an outcome that is not final, and one that is unknown, do not count", async ({ served }) => {
  served.finish(20, { final: false });
  expect((await getRecord(served)).all.flares).toBe(0);
});

test("flares are counted by score and by liquidity at their start, and by group", async ({ served }) => {
  served.finish(20, { start_score: 2.5, start_liquidity: "9999.99" });
  served.finish(21, { start_score: 2.4999, start_liquidity: null });
  const { by_score, by_liquidity, by_group } = await getRecord(served, "?group=bsc");
  expect(by_score.map(({ from, to, figures }) => [from, to, figures.flares])).toEqual([
    [null, 2.5, 1],
    [2.5, 3.5, 1],
    [3.5, null, 0],
  ]);
  expect(by_liquidity.map(({ to, figures }) => [to, figures.flares])).toEqual([
    [10_000, 1],
    [50_000, 0],
    [250_000, 0],
    [null, 0],
  ]);
  expect(by_group.map(({ group, figures }) => [group, figures.flares])).toEqual([["bsc", 2]]);
  expect((await getRecord(served, "?group=matic")).all.flares).toBe(0);
});

test("a record is computed at most once a minute, and its tag stays the same until it changes", async ({
  served,
}) => {
  served.finish(20, {});
  const [first, second] = await Promise.all([0, 1].map(() => served.rest.ask("GET", "/api/v1/record")));
  expect([served.computed(), second?.headers.etag]).toEqual([1, first?.headers.etag]);
  const known = { "if-none-match": String(first?.headers.etag) };
  served.rest.head.observedAtMs += MINUTE_MS;
  expect((await served.rest.ask("GET", "/api/v1/record", known)).status).toBe(304);
  expect(served.computed()).toBe(2);
  served.finish(40, {});
  expect((await served.rest.ask("GET", "/api/v1/record", known)).status).toBe(304);
  served.rest.head.observedAtMs += MINUTE_MS;
  expect((await served.rest.ask("GET", "/api/v1/record", known)).status).toBe(200);
});

test.for([
  ["window=1h", "window"],
  ["group=eth", "group"],
  ["windw=7d", "windw"],
] as const)("%s is an invalid parameter", async ([query, field], { served }) => {
  const { status, json } = await served.rest.ask("GET", `/api/v1/record?${query}`);
  expect([status, json]).toEqual([400, expect.objectContaining({ field })]);
});

test("before the first snapshot the record is not ready", async ({ served }) => {
  served.rest.head.ready = false;
  expect((await served.rest.ask("GET", "/api/v1/record")).status).toBe(503);
});

test("group selects the record of another group; the default is bsc", async ({ served }) => {
  served.finish(20, { change_15m: 3 });
  served.finish(21, { change_15m: -8, start_liquidity: null }, "exchange");
  const of = async (query: string) => {
    const { all, by_group, by_liquidity } = await getRecord(served, query);
    const rows = by_liquidity.map(({ figures }) => figures.flares);
    return [all.after[1]?.median, by_group.map(({ group, figures }) => [group, figures.flares]), ...rows];
  };
  expect(await of("?group=exchange")).toEqual([-8, [["exchange", 1]], 0, 0, 0, 0]);
  expect(await of("")).toEqual(await of("?group=bsc"));
  expect(await of("")).toEqual([3, [["bsc", 1]], 0, 1, 0, 0]);
});

test("a group without flares has its own record, without values", async ({ served }) => {
  served.finish(20, {});
  const { by_group } = await getRecord(served, "?group=exchange");
  expect(by_group).toMatchObject([{ group: "exchange", figures: { flares: 0 } }]);
});

test("while a record is being computed, it is not computed again for the next minute", async () => {
  const store = openSqliteHistoryStore({ maxAgeMs: DAY * MINUTE_MS, maxBytes: 2 ** 30 });
  const asked: (() => void)[] = [];
  const head = { observedAtMs: START_MS };
  const bodies = new RecordBodies(head, {
    record: async (query) => {
      await new Promise<void>((resolve) => asked.push(resolve));
      return await createHistoryReader(store).record(query);
    },
  });
  const readAt = (minute: number) => {
    head.observedAtMs = START_MS + minute * MINUTE_MS;
    return bodies.read({ window: "30d" });
  };
  const wait = [1, 2, 3].map(readAt);
  expect(asked).toHaveLength(1);
  const before = bodies.now();
  asked[0]?.();
  const [first, ...others] = await Promise.all(wait);
  expect(others).toEqual([first, first]);
  expect(bodies.now()).not.toBe(before);
  const later = readAt(4);
  expect(asked).toHaveLength(2);
  asked[1]?.();
  expect((await later).version).toBe(first?.version);
  store.close();
});

test("a record that is requested before the log's flares are stored has them, although event time stands still", async ({
  makeRest,
}) => {
  const store = openSqliteHistoryStore({ maxAgeMs: DAY * MINUTE_MS, maxBytes: 2 ** 30 });
  const minutes = openMinuteStore({ maxAgeMs: DAY * MINUTE_MS, maxBytes: 2 ** 20 });
  const [asked, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
  const isComplete = () => {
    asked.resolve();
    return stored.promise;
  };
  const history = createHistoryReader(store, { store: minutes, isComplete });
  const rest = await makeRest({ history });
  rest.head.observedAtMs = START_MS + 100 * MINUTE_MS;
  const early = rest.ask("GET", "/api/v1/record");
  await Promise.race([asked.promise, early]);
  const finishes = [{ ...finishAt(1, 20), outcome: { ...SAMPLE_OUTCOME, final: true } }];
  store.commit({ cursor: "test1-1", nowMs: rest.head.observedAtMs, starts: [], finishes, outcomes: [] });
  stored.resolve(true);
  for (const answer of [await early, await rest.ask("GET", "/api/v1/record")])
    expect(answer.json).toMatchObject({ all: { flares: 1 } });
  minutes.close();
  store.close();
});
