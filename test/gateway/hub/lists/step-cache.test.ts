import { expect } from "vitest";
import { listsOf, toEpoch, toSeq } from "../../../../src/base/protocol/index.ts";
import { MAX_STEPS, StepCache } from "../../../../src/gateway/hub/lists/step-cache.ts";
import { encodeBody } from "../../../../src/gateway/log/event-log.ts";
import type { LogRecord } from "../../../../src/gateway/log/index.ts";
import { EPOCH, settled, test } from "../hub-fixture.ts";
import { TestMarket } from "../test-market.ts";

const cursorAt = (seq: number) => ({ epoch: toEpoch(EPOCH), seq: toSeq(seq) });

test("[L6] clients that resume at the same position share its lists and get the same events", async ({
  sut,
}) => {
  for (let at = 0; at < 40; at++) await sut.publish("list", "refresh", "flare", "unlist");
  const { history } = sut.hub;
  const once = await history.at(cursorAt(77));
  expect(once).toBeDefined();
  expect(await history.at(cursorAt(77))).toBe(once);
  const filter = { min_liquidity: 30_000 };
  const sockets = Array.from({ length: 5 }, () =>
    sut.open({ channels: ["*"], filter, after: `${EPOCH}-77` }),
  );
  await settled();
  await settled();
  const [first, ...others] = sockets.map((socket) => socket.of("event"));
  expect(first?.length).toBeGreaterThan(10);
  for (const other of others) expect(other).toEqual(first);
});

test("the cache of steps is bounded, and the oldest steps are dropped first", () => {
  const [steps, market] = [new StepCache(), new TestMarket()];
  let lists = listsOf(market.snapshot);
  const size = MAX_STEPS + 100;
  for (let seq = 1; seq <= size; seq++) {
    const [event] = market.poll([seq % 2 ? "list" : "unlist"]).events;
    if (!event) throw new Error("no event");
    const { channel, name } = event;
    const position = { seq: toSeq(seq), batch: toSeq(seq), emittedAtMs: 0 };
    const record: LogRecord = { ...position, channel, name, encoded: encodeBody(event) };
    const step = steps.take(record, lists);
    expect(steps.take(record, lists)).toBe(step);
    lists = step.after;
  }
  expect([steps.listsAfter(100), steps.listsAfter(size)]).toEqual([undefined, lists]);
  expect(steps.listsAfter(101)).toBeDefined();
});
