import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import { toEpoch, toSeq } from "../../src/protocol/index.ts";
import { serving, test } from "./worker-pool-fixture.ts";

test("[L3] a worker that ends soon after its start is replaced later each time, and at once after half a minute of life", async ({
  startCrew,
}) => {
  const { clock, crew, children, child } = await startCrew(1);
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
  expect(crew.counts).toEqual({ serving: 1, ended: 4 });
  clock.advance(29_999);
  child(-1).alive();
  clock.advance(1);
  child(-1).end(1);
  expect(clock.slept.at(-1)).toBe(0);
  await turn();
  child(-1).end(1);
  expect(clock.slept.at(-1)).toBe(500);
});

test("[L3] the third quick end in a row of a worker is reported as trouble, until its process has lived half a minute", async ({
  startCrew,
}) => {
  const { clock, crew, child } = await startCrew(2);
  for (let round = 1; round <= 3; round += 1) {
    expect(crew.trouble).toBeUndefined();
    child(round === 1 ? 0 : -1).end(null, "SIGSEGV");
    clock.advance(30_000);
    await turn();
    child(-1).say({ type: "ready" });
    child(1).alive();
    child(-1).alive();
  }
  expect(crew.trouble).toBe("1 of 2 workers crash repeatedly");
  clock.advance(29_000);
  expect(crew.trouble).toBeDefined();
  clock.advance(1_000);
  expect(crew.trouble).toBeUndefined();
  child(-1).end(1);
  expect(clock.slept.at(-1)).toBe(0);
});

test("a worker that was told to end is replaced at once, and counts neither as failed nor towards trouble", async ({
  startCrew,
}) => {
  const { clock, crew, child, errors } = await startCrew(1);
  for (let round = 0; round < 4; round += 1) {
    child(-1).end(0);
    expect(clock.slept.at(-1)).toBe(0);
    await turn();
  }
  expect([crew.counts.ended, crew.trouble, errors]).toEqual([0, undefined, []]);
});

test("a worker that gives no sign of life for 30 s is killed, each sign starts the count again, and its replacement is watched too", async ({
  startCrew,
}) => {
  const { clock, child, children, errors } = await startCrew(1);
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
  clock.advance(30_000);
  expect(child(1).connected).toBe(true);
  clock.advance(1_000);
  expect(child(1).connected).toBe(false);
});

test("a start of which one worker fails is rejected with how it ended, and leaves no process behind", async ({
  createCrew,
}) => {
  const { clock, crew, child, children } = createCrew(3);
  const started = crew.start();
  child(0).say({ type: "ready" });
  child(1).end(70);
  await expect(started).rejects.toThrow("worker 2 ended during its start (exit code 70)");
  expect(children.map(({ connected }) => connected)).toEqual([false, false, false]);
  clock.advance(120_000);
  await turn();
  expect(children).toHaveLength(3);
});

test("[W25] a drain tells each worker once, kills those that stay 5 s beyond it, and replaces none", async ({
  createCrew,
}) => {
  const before = process.listenerCount("exit");
  const made = createCrew(2);
  await serving(made);
  const { clock, crew, child, children, errors } = made;
  const drained = crew.drain(4_000);
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

test("a crew has caught up when every worker serves the cursor, and no later than asked", async ({
  startCrew,
}) => {
  const { clock, crew, child } = await startCrew(2);
  const cursor = { epoch: toEpoch("abcd"), seq: toSeq(7) };
  const late = crew.caughtUp(cursor, 3_000);
  clock.advance(3_000);
  await late;
  let isDone = false;
  // What it waited at most is waited no more: a timer that stays fails the test.
  const all = crew.caughtUp(cursor, 3_000).then(() => {
    isDone = true;
  });
  child(0).alive(0, 7);
  child(1).alive(0, 6);
  await turn();
  expect(isDone).toBe(false);
  child(1).alive(0, 7);
  await all;
});

test("requests that a key made at one worker are sent to the others, not back", async ({ startCrew }) => {
  const { child, counted } = await startCrew(3);
  child(1).say({ type: "counted", keyId: "0a0a0a0a", requests: 3 });
  expect(counted).toEqual([["0a0a0a0a", 3]]);
  const told = [0, 1, 2].map((at) => child(at).types().includes("counted"));
  expect(told).toEqual([true, false, true]);
});

test("of each worker that ends the last numbers that were heard of it are handed on, once, and it follows the log no more", async ({
  startCrew,
}) => {
  const { crew, child, gone, counts, clock } = await startCrew(2);
  expect(counts.following).toBe(2);
  for (let round = 0; round < 2; round += 1) {
    const at = round === 0 ? 0 : -1;
    child(at).say({ type: "ready" });
    const measured = crew.processes[0]?.measure(1_000);
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

test("[W32] each claim of a client goes to all workers in one order, and only its sender hears that it is its own", async ({
  startCrew,
}) => {
  const { child } = await startCrew(2);
  child(1).say({ type: "claim", client: "mine" });
  child(0).say({ type: "claim", client: "mine" });
  const heard = [0, 1].map((at) =>
    child(at).received.flatMap((message) => (message.type === "claimed" ? [message.isOwn] : [])),
  );
  expect(heard).toEqual([
    [false, true],
    [true, false],
  ]);
});
