import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import {
  MAX_READING,
  MAX_WAITING,
  MAX_WAITING_OF_CLIENT,
} from "../../../src/extensions/history/http/past-states.ts";
import {
  createHistoryReader,
  type MinuteAnswer,
  openSqliteHistoryStore,
} from "../../../src/extensions/history/index.ts";
import { Refusals } from "../../../src/gateway/http/index.ts";
import { type Rest, test } from "../../gateway/http/rest/rest-fixture.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";
import { MINUTE_MS } from "./flare-records.ts";

/** A history whose reads of states wait for `go`. */
class SlowHistory {
  readonly store = openSqliteHistoryStore({ maxAgeMs: 1, maxBytes: 1 });
  readonly #released = Promise.withResolvers<void>();
  running = 0;
  mostRunning = 0;

  go = () => this.#released.resolve();

  /** Returns how many minutes ago a readable state is. */
  readable({ head }: Rest): number {
    return Math.floor(head.observedAtMs / MINUTE_MS) % 2 === 0 ? 0 : 1;
  }

  async minute(atMs: number): Promise<MinuteAnswer> {
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    await this.#released.promise;
    await turn();
    this.running -= 1;
    if (atMs % (2 * MINUTE_MS) === 0) throw new Error("the disk failed");
    const state = { firstMs: atMs, lastMs: atMs, observedAtMs: atMs, aliveMs: atMs };
    const minute = { ...state, sourceState: "live", cursor: `test1-${atMs / MINUTE_MS}` } as const;
    return { minute, snapshot: JSON.stringify(SAMPLE_SNAPSHOT) };
  }
}

/** Requests the state of this many minutes ago, from one of 200 addresses. */
function askFrom(rest: Rest, client: number, minutes: number) {
  const newestMs = Math.floor(rest.head.observedAtMs / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
  const url = `/api/v1/charts?at=${new Date(newestMs - minutes * MINUTE_MS).toISOString()}`;
  return rest.app.inject({ url, remoteAddress: `192.0.2.${client}` });
}

test("[T8] past states are read two at a time, and beyond a hundred waiting requests, others are refused and counted", async ({
  makeRest,
}) => {
  const slow = new SlowHistory();
  const history = { ...createHistoryReader(slow.store), minute: (atMs: number) => slow.minute(atMs) };
  const refusals = new Refusals(new ManualClock());
  const rest = await makeRest({ history, refusals });
  const all = MAX_READING + MAX_WAITING;
  const answers = Array.from({ length: all }, (_, index) => askFrom(rest, index, index));
  await expect.poll(() => slow.running).toBe(2);
  const refused = await askFrom(rest, all, all);
  expect([refused.statusCode, refused.json()]).toEqual([
    503,
    expect.objectContaining({ type: "urn:flarewire:problem:over-capacity", bound: expect.any(String) }),
  ]);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect(refusals.counts).toEqual({ "over-capacity": 1 });
  // Live responses do not wait.
  expect((await rest.ask("GET", "/api/v1/charts")).status).toBe(200);
  slow.go();
  const statuses = (await Promise.all(answers)).map(({ statusCode }) => statusCode);
  // A failed read does not delay the next.
  expect(statuses.filter((status) => status === 200)).toHaveLength(all / 2);
  expect(statuses.filter((status) => status === 500)).toHaveLength(all / 2);
  expect(slow.mostRunning).toBe(2);
  expect((await askFrom(rest, 1, slow.readable(rest))).statusCode).toBe(200);
  slow.store.close();
});

test("[T8] one client's requests fill at most a fifth of the queue, and other clients' are read before them", async ({
  makeRest,
}) => {
  const slow = new SlowHistory();
  const order: number[] = [];
  const minute = async (atMs: number) => {
    order.push(atMs);
    return await slow.minute(atMs);
  };
  const rest = await makeRest({ history: { ...createHistoryReader(slow.store), minute } });
  const own = MAX_READING + MAX_WAITING_OF_CLIENT;
  const answers = Array.from({ length: own }, (_, index) => askFrom(rest, 1, index));
  await expect.poll(() => slow.running).toBe(2);
  const { statusCode, headers } = await askFrom(rest, 1, own);
  expect([statusCode, Number(headers["retry-after"]) > 0]).toEqual([503, true]);
  const other = askFrom(rest, 2, own + 1);
  slow.go();
  await Promise.all([...answers, other]);
  const minutesAgo = order.map((atMs) => (rest.head.observedAtMs - atMs) / MINUTE_MS);
  // Two were being read, and then one of the first client's requests is next.
  expect(minutesAgo.findIndex((minutes) => minutes > own)).toBe(MAX_READING + 1);
  expect(order).toHaveLength(own + 1);
  slow.store.close();
});

test("a past minute is read once until stored minutes or flares change; if they have no versions, until the head moves", async ({
  makeRest,
}) => {
  const slow = new SlowHistory();
  slow.go();
  let reads = 0;
  const versions: { minutesVersion: number | undefined } = { minutesVersion: 1 };
  const minute = (atMs: number) => {
    reads += 1;
    return slow.minute(atMs);
  };
  const history = Object.assign(versions, { ...createHistoryReader(slow.store), ...versions, minute });
  const rest = await makeRest({ history });
  const newest = Math.floor(rest.head.observedAtMs / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
  const at = new Date(newest - slow.readable(rest) * MINUTE_MS).toISOString();
  const readsOf = async (...names: readonly string[]) => {
    const before = reads;
    const answers = await Promise.all(names.map((name) => rest.ask("GET", `/api/v1/${name}?at=${at}`)));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    return reads - before;
  };
  expect([await readsOf("charts", "flares"), await readsOf("charts", "newest")]).toEqual([1, 0]);
  rest.head.move({});
  expect(await readsOf("charts")).toBe(0);
  versions.minutesVersion = 2;
  expect([await readsOf("charts"), await readsOf("charts")]).toEqual([1, 0]);
  versions.minutesVersion = undefined;
  expect([await readsOf("charts"), await readsOf("charts")]).toEqual([1, 0]);
  rest.head.move({});
  expect([await readsOf("charts"), await readsOf("charts")]).toEqual([1, 0]);
  // If the time of the data goes back, the minute is no longer over.
  rest.head.observedAtMs = Date.parse(at);
  expect((await rest.ask("GET", `/api/v1/charts?at=${at}`)).status).toBe(400);
  slow.store.close();
});

test("[L5] a past minute caches no token's history, because many minutes would each have a cache", async ({
  makeRest,
}) => {
  const slow = new SlowHistory();
  slow.go();
  let reads = 0;
  const reader = createHistoryReader(slow.store);
  const candles = async () => {
    reads += 1;
    return [];
  };
  const lists = { ...SAMPLE_SNAPSHOT, flares: { free: [], pro: [], finished_trending: [] } };
  const minute = async (atMs: number) => ({ ...(await slow.minute(atMs)), snapshot: JSON.stringify(lists) });
  const rest = await makeRest({
    history: {
      ...reader,
      minutesVersion: 1,
      minute,
      candles,
      stillHas: async () => true,
    },
  });
  const newestMs = Math.floor(rest.head.observedAtMs / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
  const atMs = newestMs - slow.readable(rest) * MINUTE_MS;
  const [listing] = SAMPLE_SNAPSHOT.newest.bsc;
  const ask = (ms: number) =>
    rest.ask("GET", `/api/v1/tokens/bsc/${listing?.token.address}?at=${new Date(atMs + ms).toISOString()}`);
  // Only the body of each URL is cached.
  for (const ms of [0, 0, 1]) expect((await ask(ms)).status).toBe(200);
  expect(reads).toBe(2);
  slow.store.close();
});

test("[T8] a past state that cannot be read because of a fault gets 503 not-ready, not `time-gone`", async ({
  makeRest,
}) => {
  const slow = new SlowHistory();
  const minute = async () => ({ minute: undefined, stored: undefined, hasFailed: true }) as const;
  const rest = await makeRest({ history: { ...createHistoryReader(slow.store), minute } });
  const refused = await askFrom(rest, 1, 1);
  expect([refused.statusCode, refused.json()]).toEqual([
    503,
    expect.objectContaining({ type: "urn:flarewire:problem:not-ready", field: "at" }),
  ]);
});
