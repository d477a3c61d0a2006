import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import { type Cursor, listsOf, toEpoch } from "../../../../src/base/protocol/index.ts";
import { maskOf, resolveChannels } from "../../../../src/gateway/hub/channel-mask.ts";
import { Head } from "../../../../src/gateway/hub/index.ts";
import { jsonFraming } from "../../../../src/gateway/hub/poll/event-page.ts";
import { Waiters } from "../../../../src/gateway/hub/poll/waiters.ts";
import { selectionOf } from "../../../../src/gateway/hub/session/selection.ts";
import { createShape } from "../../../../src/gateway/hub/session/stream-shape.ts";
import { MemoryLog } from "../../../../src/gateway/log/index.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { test as base, stillRunning } from "../../../support/time/still-running.ts";
import { type Step, TestMarket } from "../test-market.ts";

const EPOCH = toEpoch("test1");

/** Creates waiters at a head that the test moves. */
function createScene() {
  const clock = new ManualClock();
  const log = new MemoryLog({ epoch: EPOCH, clock });
  const market = new TestMarket();
  const head = new Head({ log, initial: { snapshot: market.snapshot, observedAtMs: 1 } });
  const stopping = new AbortController();
  const waiters = new Waiters(head, clock, stopping.signal);
  /** Waits on this channel; `outcome` is undefined until the wait is over. */
  const wait = (channel: string, deadlineMs: number, signal = new AbortController().signal) => {
    const selection = selectionOf([{ mask: maskOf(resolveChannels([channel])), filter: undefined }]);
    const waiting: { outcome: { readonly nothingUpTo: Cursor | undefined } | undefined } = {
      outcome: undefined,
    };
    void waiters.wait(createShape(selection, jsonFraming), deadlineMs, signal).then((nothingUpTo) => {
      waiting.outcome = { nothingUpTo };
    });
    return waiting;
  };
  const publish = (...steps: Step[]) => head.publish({ observedAtMs: 1_000, ...market.poll(steps) });
  /** Advances the clock and lets the continuations run. */
  const pass = async (ms: number) => {
    clock.advance(ms);
    await turn();
  };
  return { waiters, head, market, stopping, wait, publish, pass };
}

const test = base.extend<{ scene: ReturnType<typeof createScene> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  scene: async ({}, use) => {
    const scene = createScene();
    await use(scene);
    scene.stopping.abort();
  },
});

const timers = () => stillRunning().filter((name) => name.startsWith("interval of"));

test("[P5] a wait ends at the first tick at or after its deadline, with the head's cursor", async ({
  scene,
}) => {
  await scene.publish("flare");
  const [one, two] = [scene.wait("newest.bsc", 1_000), scene.wait("newest.bsc", 1_001)];
  await scene.pass(900);
  expect([one.outcome, two.outcome, scene.waiters.size]).toEqual([undefined, undefined, 2]);
  await scene.publish("flare");
  await scene.pass(100);
  expect(one.outcome).toMatchObject({ nothingUpTo: { epoch: EPOCH, seq: 2 } });
  expect(two.outcome).toBeUndefined();
  await scene.pass(100);
  expect(two.outcome).toMatchObject({ nothingUpTo: { epoch: EPOCH, seq: 2 } });
});

test("[P5] an event wakes the requests that wait on its channel, and no others", async ({ scene }) => {
  const listed = scene.wait("newest.bsc", 60_000);
  const flares = scene.wait("flares.pro", 60_000);
  await scene.publish("list");
  await turn();
  expect([listed.outcome, flares.outcome]).toEqual([{ nothingUpTo: undefined }, undefined]);
  await scene.publish("flare");
  await turn();
  expect(flares.outcome).toEqual({ nothingUpTo: undefined });
});

test("[P8] a client that disconnects stops waiting at once, and the others still wait", async ({ scene }) => {
  const gone = new AbortController();
  const [one, other] = [scene.wait("status", 60_000, gone.signal), scene.wait("status", 60_000)];
  gone.abort();
  await turn();
  expect([one.outcome, other.outcome, scene.waiters.size]).toMatchObject([
    { nothingUpTo: { seq: 0 } },
    undefined,
    1,
  ]);
  // A client that disconnected before does not wait at all.
  const late = scene.wait("status", 60_000, gone.signal);
  await turn();
  expect([late.outcome, scene.waiters.size]).toMatchObject([{ nothingUpTo: { seq: 0 } }, 1]);
});

test("one timer runs while polls wait; finished polls leave no timer and no listener", async ({ scene }) => {
  for (let round = 0; round < 2; round += 1) {
    const { signal } = new AbortController();
    const running = () => [timers().length, getEventListeners(signal, "abort").length];
    scene.wait("newest.bsc", round * 10_000 + 1_000, signal);
    scene.wait("flares.pro", round * 10_000 + 5_000, signal);
    expect(running()).toEqual([1, 2]);
    await scene.pass(1_000);
    expect(running()).toEqual([1, 1]);
    await scene.publish("flare");
    await turn();
    expect(running()).toEqual([0, 0]);
    await scene.pass(9_000);
  }
});

test("[F3] [W9] when the log restarts, all waits end at once, as if an event had arrived", async ({
  scene,
}) => {
  const waiting = [scene.wait("newest.bsc", 60_000), scene.wait("flares.pro", 60_000)];
  const begun = { observedAtMs: 2_000, lists: listsOf(scene.market.snapshot) };
  await scene.head.restart(begun, async () => {});
  await turn();
  expect(waiting.map(({ outcome }) => outcome)).toEqual([
    { nothingUpTo: undefined },
    { nothingUpTo: undefined },
  ]);
  expect([scene.waiters.size, timers()]).toEqual([0, []]);
});

test("[P8] a stopping server answers all waiting requests, and later ones, at once", async ({ scene }) => {
  await scene.publish("status");
  const waiting = [scene.wait("newest.bsc", 60_000), scene.wait("flares.pro", 60_000)];
  scene.stopping.abort();
  waiting.push(scene.wait("status", 60_000));
  await turn();
  for (const { outcome } of waiting) expect(outcome).toMatchObject({ nothingUpTo: { seq: 1 } });
  expect([scene.waiters.size, stillRunning()]).toEqual([0, []]);
});
