import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import { ServiceClient, type ServiceOptions } from "../../../src/feeds/service/service-client.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { test } from "../../support/time/still-running.ts";

/*
 * Tests the pauses between requests to a service over several rounds, without a network and with a
 * clock that the test controls.
 */

interface Scripted {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const OK: Scripted = { status: 200 };
const BROKEN: Scripted = { status: 500 };
/** Longer than any wait of these tests. */
const TIMEOUT_MS = 987_654;
const MAX_TURNS = 2_000;

/** Creates a client of a service with these responses, then good ones. Its random number is 0.5. */
function clientOf(script: readonly Scripted[], options: Partial<ServiceOptions> = {}) {
  const clock = new ManualClock();
  const answers = [...script];
  const sentAtMs: number[] = [];
  const client = new ServiceClient({
    clock,
    pauseMs: 0,
    timeoutMs: TIMEOUT_MS,
    random: () => 0.5,
    fetch: async () => {
      sentAtMs.push(clock.monotonic());
      const { status, headers } = answers.shift() ?? OK;
      return Response.json({}, { status, headers: { ...headers } });
    },
    ...options,
  });
  /** Number of waits that have passed so far. */
  let passed = 0;
  /** Advances the clock whenever the client waits, until `request` is settled. */
  async function settle<T>(request: Promise<T>): Promise<T> {
    let isOver = false;
    const over = request.finally(() => {
      isOver = true;
    });
    over.catch(() => {});
    for (let turns = 0; !isOver; turns += 1) {
      if (turns > MAX_TURNS) throw new Error("the request is not settled");
      await turn();
      const waits = clock.slept.filter((ms) => ms !== TIMEOUT_MS);
      for (const waitMs of waits.slice(passed)) clock.advance(waitMs);
      passed = waits.length;
    }
    return over;
  }
  const { signal } = new AbortController();
  const ask = (tries?: number) =>
    settle(client.ask({ url: "http://service", read: () => 1, ...(tries ? { tries } : {}) }, signal));
  /** Milliseconds between the starts of the requests. */
  const pauses = () => sentAtMs.slice(1).map((atMs, at) => atMs - (sentAtMs[at] ?? 0));
  return { client, clock, ask, settle, pauses, sentAtMs, signal };
}

test("the pause grows with each consecutive failure, and starts over after a good answer", async () => {
  const { ask, pauses } = clientOf([BROKEN, BROKEN, BROKEN, BROKEN, OK, BROKEN, OK, BROKEN, BROKEN]);
  for (let request = 0; request < 10; request += 1) await ask(1);
  expect(pauses()).toEqual([1_500, 2_500, 4_500, 8_500, 0, 1_500, 0, 1_500, 2_500]);
});

test("a request that times out is repeated after the back-off", async () => {
  const startedAtMs: number[] = [];
  const health: (string | undefined)[] = [];
  const { client, clock, settle, signal } = clientOf([], {
    fetch: (_url, init) => {
      startedAtMs.push(clock.monotonic());
      if (startedAtMs.length > 1) return Promise.resolve(Response.json({}));
      return new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      });
    },
    onHealth: (trouble) => health.push(trouble),
  });
  const request = client.ask({ url: "http://service", read: () => 1 }, signal);
  await turn();
  clock.advance(TIMEOUT_MS);
  expect(await settle(request)).toEqual({ kind: "ok", value: 1 });
  expect(startedAtMs).toEqual([0, TIMEOUT_MS + 1_500]);
  expect(health).toEqual([`did not respond within ${TIMEOUT_MS / 1_000} s`, undefined]);
});

test.for([
  ["90", 90_000],
  ["2", 2_000],
  // The demanded pause is a minimum. The back-off is longer.
  ["1", 1_500],
  ["soon", 1_500],
] as const)("a Retry-After of %s is respected, with status 429 and 503", async ([retryAfter, waitMs]) => {
  const headers = { "retry-after": retryAfter };
  for (const status of [429, 503]) {
    const { ask, pauses } = clientOf([{ status, headers }]);
    expect(await ask()).toEqual({ kind: "ok", value: 1 });
    expect(pauses()).toEqual([waitMs]);
  }
});

test("a pause demanded by an answer's headers is respected if it is longer than the usual one", async () => {
  const rests = ["4000", "0", "250", "9000"].map((rest) => ({ status: 200, headers: { "x-rest": rest } }));
  const { ask, pauses } = clientOf(rests, {
    pauseMs: 1_000,
    quota: (headers) => Number(headers.get("x-rest") ?? 0),
  });
  for (let request = 0; request < 5; request += 1) await ask();
  expect(pauses()).toEqual([4_000, 1_000, 1_000, 9_000]);
});

test.for([
  [1, 1],
  [2, 2],
  [undefined, 5],
] as const)("a request with %s tries is sent at most %i times", async ([tries, most]) => {
  const { ask, sentAtMs } = clientOf(Array(20).fill(BROKEN));
  expect(await ask(tries)).toEqual({ kind: "failed", reason: "returned 500" });
  expect(sentAtMs).toHaveLength(most);
});

test("while a service fails, one caller tries at a time; after a failure the next caller tries", async () => {
  const { client, settle, sentAtMs, signal } = clientOf([BROKEN, BROKEN, { status: 400 }]);
  const request = { url: "http://service", read: () => 1, tries: 1 };
  const all = Promise.all(Array.from({ length: 5 }, () => client.ask(request, signal)));
  expect((await settle(all)).map(({ kind }) => kind)).toEqual(["failed", "failed", "failed", "ok", "ok"]);
  expect(sentAtMs).toHaveLength(5);
});

test("refusals for too many requests are counted separately from failures", async () => {
  const statuses = [429, 500, 418, 503, 400, 404, 200, 429];
  const { client, clock, ask } = clientOf(statuses.map((status) => ({ status })));
  for (const _status of statuses) await ask(1);
  expect(client.report("part", "service")).toMatchObject({
    part: "part",
    service: "service",
    isUp: false,
    requests: 8,
    refused: 3,
    errors: 3,
    ageMs: 0,
  });
  clock.advance(700);
  expect(client.report("part", "service").ageMs).toBe(700);
});

test("a caller that aborts leaves the queue without delaying others or leaking listeners", async () => {
  const answers = Promise.withResolvers<Response>();
  const { client, settle, signal } = clientOf([], { fetch: () => answers.promise });
  const request = { url: "http://service", read: () => 1 };
  const stop = new AbortController();
  const stopped = client.ask(request, stop.signal);
  const behind = client.ask(request, stop.signal);
  const other = client.ask(request, signal);
  stop.abort(new Error("enough"));
  await expect(stopped).rejects.toThrow("enough");
  await expect(behind).rejects.toThrow("enough");
  answers.resolve(Response.json({}));
  expect(await settle(other)).toEqual({ kind: "ok", value: 1 });
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
