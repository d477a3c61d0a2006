import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import { toEpoch, toSeq } from "../../src/base/protocol/index.ts";
import { startServing, test } from "./worker-pool-fixture.ts";

test("[L3] each quick end of a worker delays its replacement more; after half a minute of running it is replaced at once", async ({
  startPool,
}) => {
  const { clock, pool, children, child } = await startPool(1);
  const waits: (number | undefined)[] = [];
  for (let round = 0; round < 4; round += 1) {
    clock.advance(29_999);
    child(-1).end(1);
    waits.push(clock.slept.at(-1));
    clock.advance(waits.at(-1) ?? 0);
    await turn();
    expect(children).toHaveLength(round + 2);
    child(-1).say({ type: "ready" });
    child(-1).alive();
  }
  expect(waits).toEqual([500, 1_000, 2_000, 4_000]);
  expect(pool.counts).toEqual({ serving: 1, ended: 4 });
  clock.advance(29_999);
  child(-1).alive();
  clock.advance(1);
  child(-1).end(1);
  expect(clock.slept.at(-1)).toBe(0);
  await turn();
  child(-1).end(1);
  expect(clock.slept.at(-1)).toBe(500);
});

test("[L3] the third consecutive quick end is reported as trouble until the worker process has run for half a minute", async ({
  startPool,
}) => {
  const { clock, pool, child } = await startPool(2);
  for (let round = 1; round <= 3; round += 1) {
    expect(pool.trouble).toBeUndefined();
    child(round === 1 ? 0 : -1).end(null, "SIGSEGV");
    clock.advance(30_000);
    await turn();
    child(-1).say({ type: "ready" });
    child(1).alive();
    child(-1).alive();
  }
  expect(pool.trouble).toBe("1 of 2 workers crash repeatedly");
  clock.advance(29_000);
  expect(pool.trouble).toBeDefined();
  clock.advance(1_000);
  expect(pool.trouble).toBeUndefined();
  child(-1).end(1);
  expect(clock.slept.at(-1)).toBe(0);
});

test("a worker that exits with code 0 is replaced at once and does not count as failed", async ({
  startPool,
}) => {
  const { clock, pool, child, errors } = await startPool(1);
  for (let round = 0; round < 4; round += 1) {
    child(-1).end(0);
    expect(clock.slept.at(-1)).toBe(0);
    await turn();
  }
  expect([pool.counts.ended, pool.trouble, errors]).toEqual([0, undefined, []]);
});

test("a worker that does not respond for 30 s is killed; each response restarts the timer, also for its replacement", async ({
  startPool,
}) => {
  const { clock, child, children, errors } = await startPool(1);
  clock.advance(30_000);
  expect(child(0).connected).toBe(true);
  child(0).alive();
  clock.advance(30_000);
  expect(child(0).connected).toBe(true);
  clock.advance(1_000);
  expect(child(0).connected).toBe(false);
  expect(errors[0]).toBe("killing a worker that has not answered for 30 s");
  await turn();
  expect(children).toHaveLength(2);
  child(1).say({ type: "ready" });
  clock.advance(30_000);
  expect(child(1).connected).toBe(true);
  clock.advance(1_000);
  expect(child(1).connected).toBe(false);
});

test("an aborted start waits for no worker, and the drain kills workers that never became ready", async ({
  createPool,
}) => {
  const stop = new AbortController();
  const { clock, pool, child, warnings } = createPool(2, stop.signal);
  const started = pool.start();
  child(0).say({ type: "ready" });
  stop.abort();
  await started;
  const drained = pool.drain(1_000);
  child(0).end(0);
  clock.advance(5_999);
  expect(child(1).connected).toBe(true);
  clock.advance(1);
  await drained;
  expect(warnings).toEqual(["killing workers that did not stop in time"]);
});

test("a worker that starts slowly is reported every 30 s; one that does not respond for 5 minutes is killed", async ({
  createPool,
}) => {
  const { clock, pool, child, errors, warnings } = createPool(3);
  const started = pool.start();
  const failed = expect(started).rejects.toThrow("worker 3 ended during its start (SIGKILL)");
  const slow = "waiting for a worker that is slow to start";
  child(0).say({ type: "ready" });
  for (let round = 0; round < 10; round += 1) {
    // A response during the start does not mean that the worker is ready.
    for (const at of [0, 1]) child(at).alive();
    clock.advance(29_000);
    expect(warnings).toEqual(Array(2 * round).fill(slow));
    clock.advance(1_000);
  }
  expect([0, 1, 2].map((at) => child(at).connected)).toEqual([true, true, true]);
  expect(warnings).toEqual(Array(20).fill(slow));
  child(1).say({ type: "ready" });
  expect(errors).toEqual([]);
  child(0).alive();
  child(1).alive();
  clock.advance(1_000);
  await failed;
  expect(errors).toEqual(["killing a worker that has not answered for 300 s"]);
});

test("if a worker ends during the start, the start rejects with the reason and leaves no process", async ({
  createPool,
}) => {
  const { clock, pool, child, children } = createPool(3);
  const started = pool.start();
  child(0).say({ type: "ready" });
  child(1).end(70);
  await expect(started).rejects.toThrow("worker 2 ended during its start (exit code 70)");
  expect(children.map(({ connected }) => connected)).toEqual([false, false, false]);
  clock.advance(120_000);
  await turn();
  expect(children).toHaveLength(3);
});

test("[W25] a drain is sent to each worker once, kills those that take 5 s longer, and starts no replacement", async ({
  createPool,
}) => {
  const before = process.listenerCount("exit");
  const created = createPool(2);
  await startServing(created);
  const { clock, pool, child, children, errors } = created;
  const drained = pool.drain(4_000);
  expect(process.listenerCount("exit")).toBe(before + 1);
  expect(children.map((one) => one.types().filter((type) => type === "drain").length)).toEqual([1, 1]);
  child(0).end(0);
  clock.advance(8_999);
  await turn();
  expect(child(1).connected).toBe(true);
  clock.advance(1);
  await drained;
  expect([child(1).connected, children.length]).toEqual([false, 2]);
  expect(process.listenerCount("exit")).toBe(before);
  const asked = child(1).received.length;
  clock.advance(60_000);
  await turn();
  expect([children.length, child(1).received.length]).toEqual([2, asked]);
  expect(errors).toEqual([]);
});

test("`caughtUp` resolves when every worker has reached the cursor, or after the time limit", async ({
  startPool,
}) => {
  const { clock, pool, child } = await startPool(2);
  const cursor = { epoch: toEpoch("abcd"), seq: toSeq(7) };
  const late = pool.caughtUp(cursor, 3_000);
  clock.advance(3_000);
  await late;
  let isDone = false;
  // The timer of a wait that is over must not stay: the fixture fails on remaining timers.
  const all = pool.caughtUp(cursor, 3_000).then(() => {
    isDone = true;
  });
  child(0).alive(0, 7);
  child(1).alive(0, 6);
  await turn();
  expect(isDone).toBe(false);
  child(1).alive(0, 7);
  await all;
});

test("a key's requests at one worker are reported to the other workers only", async ({ startPool }) => {
  const { child, counted } = await startPool(3);
  child(1).say({ type: "counted", keyId: "0a0a0a0a", requests: 3 });
  expect(counted).toEqual([["0a0a0a0a", 3]]);
  const reported = [0, 1, 2].map((at) => child(at).types().includes("counted"));
  expect(reported).toEqual([true, false, true]);
});

test("the last metrics of a worker that ends are reported once, and it no longer follows the log", async ({
  startPool,
}) => {
  const { pool, child, gone, counts, clock } = await startPool(2);
  expect(counts.following).toBe(2);
  for (let round = 0; round < 2; round += 1) {
    const at = round === 0 ? 0 : -1;
    child(at).say({ type: "ready" });
    const measured = pool.processes[0]?.measure(1_000);
    child(at).say({ type: "measured", id: 1, metrics: [{ name: `of round ${round}` }] });
    await measured;
    child(at).end(1);
    expect(counts.following).toBe(1);
    clock.advance(1_000);
    await turn();
    expect(counts.following).toBe(2);
  }
  expect(gone.map(({ metrics }) => metrics)).toEqual([[{ name: "of round 0" }], [{ name: "of round 1" }]]);
});

test("[W32] each claim of a client reaches all workers in the same order, marked as own only for its sender", async ({
  startPool,
}) => {
  const { child } = await startPool(2);
  child(1).say({ type: "claim", client: "mine" });
  child(0).say({ type: "claim", client: "mine" });
  const received = [0, 1].map((at) =>
    child(at).received.flatMap((message) => (message.type === "claimed" ? [message.isOwn] : [])),
  );
  expect(received).toEqual([
    [false, true],
    [true, false],
  ]);
});
