import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { listsOf, toEpoch } from "../../../src/base/protocol/index.ts";
import { Head } from "../../../src/gateway/hub/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";
import { TestMarket } from "./test-market.ts";

function createHead() {
  const log = new MemoryLog({ epoch: toEpoch("test1"), clock: new ManualClock() });
  return { log, head: new Head({ log }), market: new TestMarket() };
}

test("[L2] cursor, snapshot and event time change in one step, after the log has stored the events", async () => {
  const { log, head, market } = createHead();
  const seen: unknown[] = [];
  log.onAppend(() => seen.push({ at: "append", seq: head.cursor.seq, observedAtMs: head.observedAtMs }));
  head.onChange((records, { cursor, snapshot, observedAtMs }) =>
    seen.push({ at: "change", seq: cursor.seq, records: records.length, observedAtMs, snapshot }),
  );
  const batch = market.poll(["list", "status"]);
  await head.publish({ observedAtMs: 5, ...batch });
  expect(seen).toEqual([
    { at: "append", seq: 0, observedAtMs: 0 },
    { at: "change", seq: 2, records: 2, observedAtMs: 5, snapshot: batch.snapshot },
  ]);
});

test("batches are published in the order of the calls, even if the log takes longer for the first", async () => {
  const { log, head, market } = createHead();
  const append = log.append.bind(log);
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let calls = 0;
  log.append = async (events) => {
    if (calls++ === 0) await gate;
    return append(events);
  };
  const order: number[] = [];
  head.onChange((_, { observedAtMs }) => order.push(observedAtMs));
  const first = head.publish({ observedAtMs: 1, ...market.poll(["list"]) });
  const second = head.publish({ observedAtMs: 2, ...market.poll(["list"]) });
  release();
  await Promise.all([first, second]);
  expect(order).toEqual([1, 2]);
});

test("a batch that the log rejects leaves the head unchanged, and the next one is published", async () => {
  const { log, head, market } = createHead();
  const append = log.append.bind(log);
  log.append = () => Promise.reject(new Error("disk full"));
  await expect(head.publish({ observedAtMs: 1, ...market.poll(["list"]) })).rejects.toThrow("disk full");
  expect([head.cursor.seq, head.ready, head.observedAtMs]).toEqual([0, false, 0]);
  log.append = append;
  await head.publish({ observedAtMs: 2, ...market.poll(["list"]) });
  expect([head.cursor.seq, head.ready, head.observedAtMs]).toEqual([1, true, 2]);
});

test("the head is ready with the first snapshot, not with a change of the source's status", async () => {
  const { head, market } = createHead();
  const { events } = market.poll(["status"]);
  await head.publish({ events });
  expect([head.ready, head.cursor.seq]).toEqual([false, 1]);
  await head.publish({ observedAtMs: 7, snapshot: SAMPLE_SNAPSHOT, events: [] });
  expect([head.ready, head.cursor.seq, head.snapshot]).toEqual([true, 1, SAMPLE_SNAPSHOT]);
});

test("a removed listener is not called", async () => {
  const { head, market } = createHead();
  let heard = 0;
  const stop = head.onChange(() => {
    heard += 1;
  });
  await head.publish(market.poll(["list"]));
  stop();
  await head.publish(market.poll(["list"]));
  expect(heard).toBe(1);
});

test("a first batch with the empty snapshot makes the head ready", async () => {
  const { head } = createHead();
  expect(head.ready).toBe(false);
  await head.publish({ observedAtMs: 5, snapshot: head.snapshot, events: [] });
  expect(head.ready).toBe(true);
});

test("a restart reaches every listener and succeeds even if one of them throws", async () => {
  const log = new MemoryLog({ epoch: toEpoch("test1"), clock: new ManualClock() });
  const errors: unknown[] = [];
  const head = new Head({ log, onError: (error) => errors.push(error) });
  const fault = new Error("a listener's own");
  head.onRestart(() => {
    throw fault;
  });
  const heard: number[] = [];
  head.onRestart(({ observedAtMs }) => heard.push(observedAtMs));
  await head.restart({ lists: listsOf(SAMPLE_SNAPSHOT), observedAtMs: 7 }, async () => {});
  expect([heard, errors, head.ready]).toEqual([[7], [fault], true]);
});

test("[L5] the next batch waits for the pause that a listener requests; the publisher of the current batch does not", async () => {
  const { head, market } = createHead();
  const pause = Promise.withResolvers<void>();
  const order: number[] = [];
  head.onChange((_records, { observedAtMs }) => {
    order.push(observedAtMs);
    if (observedAtMs !== 1) return;
    head.pauseFor(pause.promise);
    head.pauseFor(Promise.resolve());
  });
  await head.publish({ observedAtMs: 1, ...market.poll(["list"]) });
  const second = head.publish({ observedAtMs: 2, ...market.poll(["list"]) });
  const third = head.publish({ observedAtMs: 3, ...market.poll(["list"]) });
  await turn();
  expect(order).toEqual([1]);
  pause.resolve();
  // Both pauses delay the same batch, and no other.
  await Promise.all([second, third]);
  expect(order).toEqual([1, 2, 3]);
});

test("[L2] [W39] at a restart the cursor, snapshot and event time of the new history apply at once, before anybody hears of it", async () => {
  const { log, head, market } = createHead();
  await head.publish({ observedAtMs: 9_000, ...market.poll(["list"]) });
  for (const [round, observedAtMs] of [3_000, 20_000].entries()) {
    const base = { observedAtMs, lists: listsOf(SAMPLE_SNAPSHOT) };
    const heard: unknown[] = [];
    head.onRestart((told) => heard.push([told, head.cursor.epoch, head.snapshot, head.observedAtMs]));
    const epoch = toEpoch(`next${round}`);
    const begin = async () =>
      Object.defineProperty(log, "head", { get: () => ({ epoch, seq: 0 }), configurable: true });
    await head.restart(base, async () => void (await begin()));
    expect(heard).toEqual([[base, epoch, SAMPLE_SNAPSHOT, observedAtMs]]);
    expect([head.ready, head.observedAtMs]).toEqual([true, observedAtMs]);
  }
});
