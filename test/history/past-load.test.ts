import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import { createHistoryReader, type MinuteAnswer, openSqliteHistoryStore } from "../../src/history/index.ts";
import { MAX_READING, MAX_WAITING } from "../../src/http/rest/past-states.ts";
import { test } from "../http/rest-fixture.ts";
import { SAMPLE_SNAPSHOT } from "../support/samples.ts";
import { MINUTE_MS } from "./flare-records.ts";

/** A history whose states take until `go`. */
class SlowHistory {
  readonly store = openSqliteHistoryStore({ maxAgeMs: 1, maxBytes: 1 });
  readonly #released = Promise.withResolvers<void>();
  running = 0;
  mostRunning = 0;

  go = () => this.#released.resolve();

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

test("[T8] past states are read two at a time, and beyond a hundred requests that wait others are refused", async ({
  makeRest,
}) => {
  const slow = new SlowHistory();
  const history = { ...createHistoryReader(slow.store), minute: (atMs: number) => slow.minute(atMs) };
  const rest = await makeRest({ history });
  const newest = Math.floor(rest.head.observedAtMs / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
  const ask = (minutes: number) =>
    rest.ask("GET", `/api/v1/charts?at=${new Date(newest - minutes * MINUTE_MS).toISOString()}`);
  const all = MAX_READING + MAX_WAITING;
  const answers = Array.from({ length: all }, (_, index) => ask(index));
  await expect.poll(() => slow.running).toBe(2);
  const refused = await ask(all);
  expect([refused.status, refused.json]).toEqual([
    503,
    expect.objectContaining({ type: "urn:flarewire:problem:over-capacity" }),
  ]);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  // Live answers do not wait.
  expect((await rest.ask("GET", "/api/v1/charts")).status).toBe(200);
  slow.go();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  // One that fails does not hold up the next.
  expect(statuses.filter((status) => status === 200)).toHaveLength(all / 2);
  expect(statuses.filter((status) => status === 500)).toHaveLength(all / 2);
  expect(slow.mostRunning).toBe(2);
  const after = await ask(newest % (2 * MINUTE_MS) === 0 ? 1 : 0);
  expect(after.status).toBe(200);
  slow.store.close();
});

test("a past minute is read once while the head does not move", async ({ makeRest }) => {
  const slow = new SlowHistory();
  slow.go();
  let reads = 0;
  const minute = (atMs: number) => {
    reads += 1;
    return slow.minute(atMs);
  };
  const rest = await makeRest({ history: { ...createHistoryReader(slow.store), minute } });
  const newest = Math.floor(rest.head.observedAtMs / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
  const atMs = newest % (2 * MINUTE_MS) === 0 ? newest - MINUTE_MS : newest;
  const ask = async (name: string) =>
    (await rest.ask("GET", `/api/v1/${name}?at=${new Date(atMs).toISOString()}`)).status;
  expect(await Promise.all([ask("charts"), ask("flares")])).toEqual([200, 200]);
  expect([await ask("charts"), reads]).toEqual([200, 1]);
  rest.head.move({});
  expect([await ask("charts"), reads]).toEqual([200, 2]);
  slow.store.close();
});
