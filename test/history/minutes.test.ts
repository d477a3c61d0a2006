import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import {
  createHistoryReader,
  type HistoryStore,
  MinuteWriter,
  openMinuteStore,
  openSqliteHistoryStore,
} from "../../src/history/index.ts";
import type { Snapshot } from "../../src/model/index.ts";
import { type Cursor, type EventBody, toEpoch, toRun, toSeq } from "../../src/protocol/index.ts";
import { HandHead, type Rest, test as restTest } from "../http/rest-fixture.ts";
import { SAMPLE_SNAPSHOT } from "../support/samples.ts";
import { finishAt, MINUTE_MS, outcomeAt, START_MS } from "./flare-records.ts";

const LIMITS = { maxAgeMs: 30 * 24 * 60 * MINUTE_MS, maxBytes: 2 ** 30 };

/** A head that a test moves by hand, and that reports it. */
class Market extends HandHead {
  override observedAtMs = START_MS;
  override cursor: Cursor = { epoch: toEpoch("test1"), seq: toSeq(0) };
  #listen: (events: readonly EventBody[]) => void = () => {};
  #run = 0;

  onChange(listener: (records: readonly never[], head: never, events: readonly EventBody[]) => void) {
    this.#listen = (events) => listener([], this as never, events);
    return () => {};
  }

  onRestart(): void {}
  pauseFor(): void {}

  /** Another observation, with other flares, so long after the first minute. */
  observe(seconds: number, parts: Partial<Snapshot> = SAMPLE_SNAPSHOT): void {
    this.move(parts);
    this.observedAtMs = START_MS + seconds * 1_000;
    this.#listen([]);
  }

  status(state: "live" | "stale" | "down", seconds: number): void {
    this.move({});
    const observed_at = iso(seconds);
    this.observedAtMs -= 1_000;
    this.#listen([{ name: "source-status", channel: "status", observed_at, data: { state, reason: "" } }]);
  }

  /** Another process appends to the log from now on. */
  begin(): void {
    this.#run += 1;
    this.cursor = { ...this.cursor, run: toRun(`r${this.#run}`) };
  }
}

interface World {
  readonly market: Market;
  readonly rest: Rest;
  readonly flares: HistoryStore;
  readonly notices: string[];
  /** The answer for this number of seconds after the first minute. */
  at(seconds: number, path?: string): ReturnType<Rest["ask"]>;
  settled(): Promise<void>;
}

type WorldFactory = (limits?: Partial<typeof LIMITS>) => Promise<World>;

const test = restTest.extend<{ makeWorld: WorldFactory }>({
  makeWorld: async ({ makeRest }, use) => {
    const opened: { close(): void }[] = [];
    await use(async (limits = {}) => {
      const store = openMinuteStore({ ...LIMITS, ...limits });
      const flares = openSqliteHistoryStore(LIMITS);
      opened.push(store, flares);
      const market = new Market();
      const notices: string[] = [];
      market.move(SAMPLE_SNAPSHOT);
      market.observedAtMs = START_MS;
      const writer = new MinuteWriter({
        head: market,
        store,
        notify: (level, message) => notices.push(`${level}: ${message}`),
      });
      const settled = (atMs?: number) => writer.settled(atMs);
      const replacements = () => writer.replacements;
      const history = createHistoryReader(flares, { store, settled, replacements });
      const rest = await makeRest({ head: market, history });
      const at = (seconds: number, path = "/api/v1/flares") => rest.ask("GET", `${path}?at=${iso(seconds)}`);
      return { market, rest, flares, notices, at, settled };
    });
    for (const store of opened) store.close();
  },
});

const iso = (seconds: number) => new Date(START_MS + seconds * 1_000).toISOString();
const EMPTY_FLARES = { flares: { free: [], pro: [], finished_trending: [] } };

test("[T2] seconds are rounded down, so that no answer has later data", async ({ makeWorld }) => {
  const { market, at } = await makeWorld();
  market.observe(30, EMPTY_FLARES);
  market.observe(100);
  const [first, same, next] = [await at(0), await at(59.999), await at(60)];
  expect(first.json).toEqual(SAMPLE_SNAPSHOT.flares);
  expect(same.body).toEqual(first.body);
  expect(same.headers["flarewire-at"]).toBe(iso(0));
  expect(next.json).toEqual(EMPTY_FLARES.flares);
});

test("[T3] a past answer may be cached for a minute and has the entity tag of the live one", async ({
  makeWorld,
}) => {
  const { market, rest, at } = await makeWorld();
  const live = await rest.ask("GET", "/api/v1/flares");
  expect(live.headers).not.toHaveProperty("flarewire-at");
  market.observe(30, EMPTY_FLARES);
  const { headers } = await at(0);
  expect(headers).toMatchObject({
    etag: live.headers.etag,
    "cache-control": "max-age=60",
    "flarewire-at": iso(0),
    "flarewire-cursor": live.headers["flarewire-cursor"],
    "flarewire-observed-at": iso(0),
    "flarewire-data-age": "0",
    "flarewire-source-state": "live",
  });
  const url = `/api/v1/flares?at=${iso(0)}`;
  const again = await rest.ask("GET", url, { "if-none-match": String(headers.etag) });
  expect([again.status, again.headers["cache-control"]]).toEqual([304, "max-age=60"]);
  const head = await rest.ask("HEAD", url);
  expect([head.status, head.headers["content-length"]]).toEqual([200, headers["content-length"]]);
});

test.for([
  ["at=yesterday", "a UTC time"],
  ["at=", "a UTC time"],
  ["at=2017-11-12T08:36:00%2B01:00", "a UTC time"],
  ["at=2017-13-41T00:00:00Z", "a UTC time"],
  ["at=2016-02-30T00:00Z", "a UTC time"],
  ["at=2017-11-12T08:36Z&at=2017-11-12T08:37Z", "a UTC time"],
  ["at=2999-01-01T00:00Z", "at most "],
] as const)("[T4] %s is an invalid parameter", async ([query, bound], { makeWorld }) => {
  const { market, rest } = await makeWorld();
  market.observe(90);
  const { status, json } = await rest.ask("GET", `/api/v1/snapshot?${query}`);
  expect([status, json]).toEqual([
    400,
    expect.objectContaining({ field: "at", bound: expect.stringContaining(bound) }),
  ]);
});

test("[T4] a minute is over when a later observation is served", async ({ makeWorld }) => {
  const { market, at } = await makeWorld();
  market.observe(60);
  expect((await at(60)).status).toBe(400);
  market.observe(61);
  expect((await at(60)).status).toBe(200);
});

test("[T4] other addresses reject the parameter by its name", async ({ makeWorld }) => {
  const { rest } = await makeWorld();
  const { status, json } = await rest.ask("GET", `/api/v1/history?at=${iso(0)}`);
  expect([status, json]).toEqual([400, expect.objectContaining({ field: "at" })]);
});

test("[T1] a past flare has no later outcome, and is not found before its start", async ({ makeWorld }) => {
  const { market, flares, at } = await makeWorld();
  const finish = finishAt(1, 3);
  const { flare, outcome, why } = finish;
  const path = `/api/v1/flares/${flare.id}`;
  const list = { free: [], pro: [], finished_trending: [] };
  market.observe(60);
  market.observe(120, { flares: { ...list, pro: [{ ...flare, finished_trending_at: null }] } });
  const listed = { flares: { ...list, finished_trending: [flare] } };
  market.observe(180, { ...listed, outcomes: outcome ? { [flare.id]: outcome } : {} });
  const final = outcomeAt(70, true);
  market.observe(4_200, { ...listed, outcomes: { [flare.id]: final } });
  market.observe(200_000, EMPTY_FLARES);
  market.observe(200_100);
  flares.commit({
    ...{ cursor: "test1-9", nowMs: START_MS + 2e8, starts: [{ id: flare.id, at: iso(120), why }] },
    ...{ finishes: [finish], outcomes: [{ id: flare.id, outcome: final }] },
  });
  expect((await at(60, path)).status).toBe(404);
  expect((await at(120, path)).json).toMatchObject({ started: why, cause: null, outcome: null });
  expect((await at(180, path)).json).toEqual({ ...finish, started: why });
  expect((await at(4_200, path)).json).toEqual({ ...finish, started: why, outcome: final });
  expect((await at(200_040, path)).json).toEqual({ ...finish, started: why, outcome: final });
});

test("[T5] a time out of reach is 410 with the reachable range", async ({ makeWorld }) => {
  const { market, at } = await makeWorld();
  market.observe(30);
  market.observe(90);
  const { status, json } = await at(-3_600);
  expect([status, json]).toEqual([
    410,
    expect.objectContaining({
      type: "urn:flarewire:problem:time-gone",
      field: "at",
      bound: `from ${iso(0)} to ${iso(60)}`,
    }),
  ]);
});

test("[T6] minutes without a server are missing, later ones of a restarted one are not", async ({
  makeWorld,
}) => {
  const { market, at } = await makeWorld();
  market.observe(50);
  market.begin();
  market.observe(600);
  market.observe(700);
  const statuses = [];
  for (const minute of [0, 1, 2, 5, 9, 10, 11]) statuses.push([minute, (await at(minute * 60)).status]);
  // The data was 10 seconds old at minute 1.
  expect(statuses).toEqual([
    [0, 200],
    [1, 200],
    [2, 410],
    [5, 410],
    [9, 410],
    [10, 200],
    [11, 200],
  ]);
  const { headers } = await at(60);
  expect([headers["flarewire-data-age"], headers["flarewire-source-state"]]).toEqual(["10", "stale"]);
  const { json } = await at(300);
  expect(json).toMatchObject({ detail: expect.stringContaining("did not run") });
});

test("[T6] while the source is silent, the last state is served with its age, as it was live", async ({
  makeWorld,
}) => {
  const { market, at } = await makeWorld();
  market.observe(50);
  market.status("down", 130);
  market.observe(600);
  market.status("live", 600);
  market.observe(700);
  const shown = [];
  for (const minute of [1, 2, 5, 10, 11]) {
    const { headers } = await at(minute * 60);
    shown.push([minute, headers["flarewire-data-age"], headers["flarewire-source-state"]]);
  }
  expect(shown).toEqual([
    [1, "0", "live"],
    [2, "0", "live"],
    [5, "170", "down"],
    [10, "0", "live"],
    [11, "0", "live"],
  ]);
});

test("[T7] beyond the limits of age and bytes the oldest minutes expire", async ({ makeWorld }) => {
  const { market, at } = await makeWorld({ maxAgeMs: 5 * MINUTE_MS });
  for (let minute = 1; minute <= 20; minute += 1) market.observe(minute * 60);
  const oldest = await at(-60);
  expect(oldest.json).toMatchObject({ bound: `from ${iso(14 * 60)} to ${iso(19 * 60)}` });
  const small = await makeWorld({ maxBytes: 12_000 });
  for (let minute = 1; minute <= 200; minute += 1)
    small.market.observe(minute * 60, { flares: { ...SAMPLE_SNAPSHOT.flares, free: noise(minute) } });
  await small.settled();
  expect((await small.at(199 * 60)).status).toBe(200);
  expect((await small.at(0)).status).toBe(410);
});

/** Flares that compress badly. */
function noise(seed: number): Snapshot["flares"]["free"] {
  return SAMPLE_SNAPSHOT.flares.pro.slice(0, 1).map((flare) => ({
    ...flare,
    liquidity: `${Array.from({ length: 12 }, (_, index) => (Math.sin(seed * 12 + index) ** 2).toFixed(9).slice(2)).join("")}`,
  }));
}

test("[T7] after the time of the data went back, a cached answer is replaced within a minute", async ({
  makeWorld,
}) => {
  const { market, rest, at } = await makeWorld();
  market.observe(90);
  const { headers } = await at(60);
  expect(headers["cache-control"]).toBe("max-age=60");
  market.begin();
  market.observe(30, EMPTY_FLARES);
  market.observe(90, EMPTY_FLARES);
  const again = await rest.ask("GET", `/api/v1/flares?at=${iso(60)}`, {
    "if-none-match": String(headers.etag),
  });
  expect([again.status, again.json]).toEqual([200, EMPTY_FLARES.flares]);
});

test("[T7] an answer that was given for a minute is not given again once the minute is replaced or expires", async ({
  makeWorld,
}) => {
  const { market, at, settled } = await makeWorld({ maxAgeMs: 5 * MINUTE_MS });
  const ask = async () => {
    await settled();
    const { status, json } = await at(60);
    return status === 200 ? json : status;
  };
  for (const seconds of [30, 90]) market.observe(seconds);
  expect([await ask(), await ask()]).toEqual([SAMPLE_SNAPSHOT.flares, SAMPLE_SNAPSHOT.flares]);
  // Time goes back: the minute is not over, and then has another state.
  market.observe(50, EMPTY_FLARES);
  expect(await ask()).toBe(400);
  market.observe(90, EMPTY_FLARES);
  expect(await ask()).toEqual(EMPTY_FLARES.flares);
  for (let minute = 2; minute <= 20; minute += 1) market.observe(minute * 60);
  expect(await ask()).toBe(410);
});

test("[T7] a limit that is smaller than one minute stores nothing, and fails nothing", async ({
  makeWorld,
}) => {
  const { market, at, notices } = await makeWorld({ maxBytes: 100 });
  for (let minute = 1; minute <= 3; minute += 1) market.observe(minute * 60);
  const { status, json } = await at(60);
  expect([status, json]).toEqual([
    410,
    expect.objectContaining({ bound: expect.stringContaining("no minute") }),
  ]);
  expect(notices).toEqual([]);
});

test("a full disk is reported once, and the recovery", async ({ expect }) => {
  const market = new Market();
  const store = openMinuteStore(LIMITS);
  let isFull = true;
  const notices: string[] = [];
  const writer = new MinuteWriter({
    head: market,
    store: {
      insert: (minute) => {
        if (isFull) throw new Error("database or disk is full");
        return store.insert(minute);
      },
    },
    notify: (level, message) => notices.push(`${level}: ${message}`),
  });
  market.observe(90);
  market.observe(150);
  await writer.settled();
  isFull = false;
  market.observe(210);
  await writer.stop();
  await turn();
  expect(notices).toEqual([
    "warn: cannot store the state of a minute: database or disk is full",
    "info: storing the state of each minute again",
  ]);
  expect(store.range).toEqual({ oldestMs: START_MS + 3 * MINUTE_MS, newestMs: START_MS + 3 * MINUTE_MS });
  store.close();
});
