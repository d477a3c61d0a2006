import { expect } from "vitest";
import { LongPoll } from "../../src/hub/index.ts";
import { EPOCH, settled, test } from "./hub-fixture.ts";

const LIMITS = { hub: { limits: { aheadWaitMs: 3_000 } } };

test("[F3] who is ahead of a mirror is answered when it has caught up, and everything behind the cursor follows", async ({
  make,
}) => {
  const sut = make(LIMITS);
  await sut.publish("list");
  const socket = sut.open({ channels: ["*"], after: `${EPOCH}-3` });
  await sut.publish("list");
  expect(socket.of("subscribed")).toEqual([]);
  await sut.publish("list", "list");
  await settled();
  expect(socket.messages.map(({ type, cursor }) => [type, cursor])).toEqual([
    ["hello", `${EPOCH}-1`],
    ["subscribed", `${EPOCH}-3`],
    ["event", `${EPOCH}-4`],
  ]);
  expect(socket.of("subscribed")[0]).toMatchObject({ resumed: "full" });
});

test("[F3] who is ahead for longer than that is told so; without a leader nobody waits", async ({ make }) => {
  const sut = make(LIMITS);
  const socket = sut.open({ channels: ["*"], after: `${EPOCH}-9` });
  sut.clock.advance(2_000);
  expect(socket.of("subscribed")).toEqual([]);
  sut.clock.advance(1_000);
  const told = { resumed: "reset", lost: { reason: "ahead" } };
  expect(socket.of("subscribed")[0]).toMatchObject(told);
  expect(
    make()
      .open({ channels: ["*"], after: `${EPOCH}-9` })
      .of("subscribed")[0],
  ).toMatchObject(told);
});

test("[F3] a poll that is ahead of a mirror waits for it, too", async ({ make }) => {
  const sut = make(LIMITS);
  const { hub } = sut;
  const polls = new LongPoll({ ...sut, history: hub.history, stopping: hub.stopping, aheadWaitMs: 3_000 });
  const ask = (after: string) =>
    polls.take({ channels: ["*"], after, limit: 9, waitMs: 0 }, new AbortController().signal);
  const caughtUp = ask(`${EPOCH}-2`);
  await settled();
  await sut.publish("list", "list", "list");
  expect(await caughtUp).toMatchObject({ kind: "page", count: 1, cursor: { seq: 3 } });
  const inVain = ask(`${EPOCH}-9`);
  await settled();
  sut.clock.advance(3_000);
  expect(await inVain).toMatchObject({ kind: "lost", lost: { reason: "ahead" } });
});

test("[P8] [F3] a poll that is ahead of a mirror counts as one that waits", async ({ make }) => {
  const sut = make(LIMITS);
  const { hub } = sut;
  const parts = { ...sut, history: hub.history, stopping: hub.stopping };
  const query = { channels: ["*"], limit: 10, waitMs: 0 };
  for (const [aheadWaitMs, after, waits] of [
    [3_000, `${EPOCH}-9`, true],
    [3_000, `${EPOCH}-0`, false],
    [3_000, "stranger-9", false],
    [3_000, "oldest", false],
    [3_000, undefined, false],
    [0, `${EPOCH}-9`, false],
  ] as const) {
    expect(new LongPoll({ ...parts, aheadWaitMs }).mayWait({ ...query, after }), `${after}`).toBe(waits);
  }
  expect(new LongPoll({ ...parts, aheadWaitMs: 0 }).mayWait({ ...query, waitMs: 1 })).toBe(true);
});
