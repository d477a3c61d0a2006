import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { toEpoch } from "../../../src/base/protocol/index.ts";
import { MinuteWriter, openMinuteStore } from "../../../src/extensions/history/index.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";
import { MINUTE_MS, START_MS } from "./flare-records.ts";
import { EMPTY_FLARES, iso, LIMITS, Market, test } from "./past-world.ts";

test("[T2] seconds are rounded down, so that no response has later data", async ({ makeWorld }) => {
  const { market, at } = await makeWorld();
  market.observe(30, EMPTY_FLARES);
  market.observe(100);
  const [first, same, next] = [await at(0), await at(59.999), await at(60)];
  expect(first.json).toEqual(SAMPLE_SNAPSHOT.flares);
  expect(same.body).toEqual(first.body);
  expect(same.headers["flarewire-at"]).toBe(iso(0));
  expect(next.json).toEqual(EMPTY_FLARES.flares);
});

test("[T3] a past response may be cached for a minute and has the entity tag of the live one", async ({
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

test("[T4] a minute is available when a later observation is served", async ({ makeWorld }) => {
  const { market, at } = await makeWorld();
  market.observe(60);
  expect((await at(60)).status).toBe(400);
  market.observe(61);
  expect((await at(60)).status).toBe(200);
});

test("[T10] the live history states the oldest stored minute, from the first stored one on", async ({
  makeWorld,
}) => {
  const maxAgeMs = 60 * MINUTE_MS;
  const { market, rest, at } = await makeWorld({ maxAgeMs });
  const since = async () => {
    // The second response comes from the cache.
    const url = "/api/v1/history?limit=1";
    const answers = [await rest.ask("GET", url), await rest.ask("GET", url)];
    const [first, again] = answers.map(({ headers }) => headers["flarewire-stored-since"]);
    expect(again).toBe(first);
    return first;
  };
  expect(await since()).toBeUndefined();
  market.observe(30);
  market.observe(90);
  expect((await at(0)).status).toBe(200);
  expect(await since()).toBe(iso(0));
  expect((await at(0)).headers).not.toHaveProperty("flarewire-stored-since");
  market.observe(60 * (maxAgeMs / MINUTE_MS) + 150);
  await at(60 * (maxAgeMs / MINUTE_MS) + 120);
  expect(await since()).not.toBe(iso(0));
});

test("[T5] a time outside the stored minutes is 410 with the available range", async ({ makeWorld }) => {
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

test("[T6] minutes without a running server are missing, but later ones of a restarted server are not", async ({
  makeWorld,
}) => {
  const { market, at } = await makeWorld();
  market.observe(50);
  market.begin();
  market.observe(600);
  market.observe(700);
  const statuses = [];
  for (const minute of [0, 1, 2, 5, 9, 10, 11]) statuses.push([minute, (await at(minute * 60)).status]);
  // At minute 1, the data was 10 seconds old.
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

test("[T6] while the source is silent, a past minute has the last state with its age, as the live response had", async ({
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

test("[T7] above the limits of age and bytes, the oldest minutes expire", async ({ makeWorld }) => {
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

/** Returns flares that compress badly. */
function noise(seed: number): Snapshot["flares"]["free"] {
  return SAMPLE_SNAPSHOT.flares.pro.slice(0, 1).map((flare) => ({
    ...flare,
    liquidity: `${Array.from({ length: 12 }, (_, index) => (Math.sin(seed * 12 + index) ** 2).toFixed(9).slice(2)).join("")}`,
  }));
}

test("[T7] after the time of the data went back, a cached response is replaced within a minute", async ({
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

test("[T7] a cached response of a minute is not used after the minute is replaced or expires", async ({
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
  // When time goes back, the minute is no longer over, and later it has another state.
  market.observe(50, EMPTY_FLARES);
  expect(await ask()).toBe(400);
  market.observe(90, EMPTY_FLARES);
  expect(await ask()).toEqual(EMPTY_FLARES.flares);
  for (let minute = 2; minute <= 20; minute += 1) market.observe(minute * 60);
  expect(await ask()).toBe(410);
});

test("[T7] with a limit smaller than one minute, nothing is stored and nothing fails", async ({
  makeWorld,
}) => {
  const { market, at, notices } = await makeWorld({ maxBytes: 100 });
  for (let minute = 1; minute <= 3; minute += 1) market.observe(minute * 60);
  const { status, json } = await at(60);
  expect([status, json]).toEqual([
    410,
    expect.objectContaining({
      detail: expect.stringContaining("has stored no minute yet"),
      bound: "a minute that is over while this server runs",
    }),
  ]);
  expect(notices).toEqual([]);
});

test("[T7] minutes of another market are deleted, and those of the current one remain", async () => {
  const store = openMinuteStore(LIMITS);
  const insert = (firstMs: number, cursor: string) =>
    store.insert({
      state: {
        firstMs,
        lastMs: firstMs,
        observedAtMs: firstMs,
        aliveMs: firstMs,
        sourceState: "live",
        cursor,
      },
      body: new Uint8Array(1),
      keyframe: new Uint8Array(1),
    });
  insert(START_MS, "before1-7");
  insert(START_MS + 2 * MINUTE_MS, "before1-9");
  insert(START_MS + MINUTE_MS, "before1-8");
  insert(START_MS + 3 * MINUTE_MS, "now1-1-r1");
  await store.keepOnly(toEpoch("now1"));
  expect(store.size).toEqual({ minutes: 1, bytes: 2 });
  expect(store.find(START_MS + 3 * MINUTE_MS)?.cursor).toBe("now1-1-r1");
  expect(store.find(START_MS)).toBeUndefined();
  store.close();
});

test("after a write or a deletion is rolled back, the size is that of the stored minutes, as after a restart", async ({
  onTestFinished,
}) => {
  const path = join(newDirectory(onTestFinished), "minutes.sqlite");
  const state = { observedAtMs: 0, aliveMs: 0, sourceState: "live", cursor: "before1-1" } as const;
  const bytes = (length: number) => new Uint8Array(length);
  const insertInto = (store: ReturnType<typeof openMinuteStore>, ms: number, keyframe: number) =>
    store.insert({ state: { ...state, firstMs: ms, lastMs: ms }, body: bytes(5), keyframe: bytes(keyframe) });
  const first = openMinuteStore(LIMITS, path);
  for (const minute of [0, 1]) insertInto(first, START_MS + minute * MINUTE_MS, 7);
  first.close();
  const db = new DatabaseSync(path);
  // Fails at the end of a transaction, as a full disk does, once its minute is gone.
  db.exec(`CREATE TABLE pin (at INTEGER REFERENCES minute DEFERRABLE INITIALLY DEFERRED);
    INSERT INTO pin VALUES (${START_MS + MINUTE_MS})`);
  db.close();
  const store = openMinuteStore(LIMITS, path);
  onTestFinished(() => store.close());
  const size = { minutes: 2, bytes: 24 };
  expect(store.size).toEqual(size);
  expect(() => insertInto(store, START_MS, 100)).toThrow("FOREIGN KEY");
  expect(store.size).toEqual(size);
  await expect(store.keepOnly(toEpoch("now1"))).rejects.toThrow("FOREIGN KEY");
  expect(store.size).toEqual(size);
});

test("a full disk is reported once, and so is the recovery", async ({ expect }) => {
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
  // The writer lacks the minutes from the first failed one on.
  expect([-1, 0, 2].map((minute) => writer.lacks(START_MS + minute * MINUTE_MS))).toEqual([
    false,
    true,
    true,
  ]);
  isFull = false;
  market.observe(210);
  await writer.stop();
  await turn();
  expect(writer.lacks(START_MS + 2 * MINUTE_MS)).toBe(false);
  expect(notices).toEqual([
    "warn: cannot store the state of a minute: database or disk is full",
    "info: resumed storing the state of each minute",
  ]);
  expect(store.range).toEqual({ oldestMs: START_MS + 3 * MINUTE_MS, newestMs: START_MS + 3 * MINUTE_MS });
  store.close();
});
