import { expect } from "vitest";
import { LongPoll, sseFraming } from "../../../src/gateway/hub/index.ts";
import { EPOCH, settled, test } from "./hub-fixture.ts";
import { MockSocket } from "./mock-socket.ts";

const LIMITS = { hub: { limits: { aheadWaitMs: 3_000 } } };

test("[F3] a client ahead of a mirror gets its response once the mirror has caught up, and then every event after the cursor", async ({
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

test("[F3] a client that stays ahead for 3 seconds gets a reset with the reason ahead; without a leader, at once", async ({
  make,
}) => {
  const sut = make(LIMITS);
  const socket = sut.open({ channels: ["*"], after: `${EPOCH}-9` });
  sut.clock.advance(2_000);
  expect(socket.of("subscribed")).toEqual([]);
  sut.clock.advance(1_000);
  const reported = { resumed: "reset", lost: { reason: "ahead" } };
  expect(socket.of("subscribed")[0]).toMatchObject(reported);
  expect(
    make()
      .open({ channels: ["*"], after: `${EPOCH}-9` })
      .of("subscribed")[0],
  ).toMatchObject(reported);
});

test("[F3] a poll ahead of a mirror waits up to 3 seconds for it", async ({ make }) => {
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

test("[L3] while the server may lack events, a client ahead of it is closed without a reset, and a poll keeps its cursor", async ({
  make,
}) => {
  let isBehind = true;
  const mayLackEvents = () => isBehind;
  const sut = make({ hub: { ...LIMITS.hub, mayLackEvents } });
  const parts = { history: sut.hub.history, stopping: sut.hub.stopping, aheadWaitMs: 3_000 };
  const polls = new LongPoll({ ...sut, ...parts, mayLackEvents });
  const query = { channels: ["*"], after: `${EPOCH}-9`, limit: 9, waitMs: 0 };
  const socket = sut.open({ channels: ["*"], after: `${EPOCH}-9` });
  const answer = polls.take(query, new AbortController().signal);
  await settled();
  sut.clock.advance(3_000);
  expect(await answer).toMatchObject({ kind: "nothing", cursor: { epoch: EPOCH, seq: 9 } });
  expect([socket.of("subscribed"), socket.closed]).toEqual([[], "draining"]);
  isBehind = false;
  const later = sut.open({ channels: ["*"], after: `${EPOCH}-9` });
  sut.clock.advance(3_000);
  expect(later.of("subscribed")[0]).toMatchObject({ resumed: "reset", lost: { reason: "ahead" } });
});

test("[L3] a client whose first response takes as long as the limit for the first command is not closed with no-command", ({
  make,
}) => {
  const limits = { aheadWaitMs: 10_000, firstCommandWithinMs: 10_000 };
  const sut = make({ hub: { limits, mayLackEvents: () => true } });
  const silent = sut.open();
  const ahead = sut.open({ channels: ["*"], after: `${EPOCH}-9` });
  sut.clock.advance(10_000);
  expect([silent.closed, ahead.closed]).toEqual(["no-command", "draining"]);
});

test("[F3] [W14] [W16] a client that waits for its first response gets only hello before it, and heartbeats after it", async ({
  make,
}) => {
  const sut = make({ hub: { ...LIMITS.hub, heartbeatMs: 1_000 } });
  await sut.publish("list");
  const socket = sut.open({ channels: ["*"], after: `${EPOCH}-3` });
  sut.clock.advance(2_500);
  expect(socket.messages.map(({ type }) => type)).toEqual(["hello"]);
  await sut.publish("list", "list");
  sut.clock.advance(1_000);
  expect(socket.messages.slice(1).map(({ type, cursor }) => [type, cursor])).toEqual([
    ["subscribed", `${EPOCH}-3`],
    ["heartbeat", `${EPOCH}-3`],
  ]);
});

test("[W16] heartbeats begin with the first subscription, and continue after the last one has ended", ({
  make,
}) => {
  const sut = make({ hub: { heartbeatMs: 1_000 } });
  const socket = sut.open();
  sut.clock.advance(3_000);
  expect(socket.of("heartbeat")).toEqual([]);
  // The same for a client that fell behind and caught up before it subscribed.
  socket.highWater = 0;
  socket.freeze();
  socket.session?.receiveText('{"type":"ping"}');
  socket.highWater = 4_096;
  socket.thaw();
  sut.clock.advance(2_000);
  expect(socket.of("heartbeat")).toEqual([]);
  socket.session?.receiveText('{"type":"subscribe","id":1,"channels":["status"]}');
  sut.clock.advance(1_000);
  socket.session?.receiveText('{"type":"unsubscribe","id":1}');
  sut.clock.advance(1_000);
  expect(socket.of("heartbeat")).toMatchObject([{ positions: { status: 0 } }, { positions: {} }]);
});

test("[F3] [S4] an EventSource that waits for its first response gets no id, so it keeps its cursor", ({
  make,
}) => {
  const sut = make({ hub: { ...LIMITS.hub, heartbeatMs: 1_000 } });
  const socket = new MockSocket();
  socket.freeze();
  socket.session = sut.hub.connect(socket, sseFraming, { channels: ["*"], after: `${EPOCH}-9` });
  sut.clock.advance(2_900);
  const text = Buffer.concat(socket.writes).toString();
  expect(text).toMatch(/^event: hello$/m);
  expect(text).not.toMatch(/^id:/m);
});

test("[P8] [F3] a stopping server answers a poll that is ahead of it with the poll's own cursor", async ({
  make,
}) => {
  const sut = make(LIMITS);
  const { hub } = sut;
  const polls = new LongPoll({ ...sut, history: hub.history, stopping: hub.stopping, aheadWaitMs: 3_000 });
  const query = { channels: ["*"], after: `${EPOCH}-9`, limit: 9, waitMs: 0 };
  const answer = polls.take(query, new AbortController().signal);
  await settled();
  void hub.drain(0);
  expect(await answer).toMatchObject({ kind: "nothing", cursor: { epoch: EPOCH, seq: 9 } });
});

test("[F3] [W9] a cursor of another epoch is not ahead of a mirror: it gets a reset at once", async ({
  make,
}) => {
  const sut = make(LIMITS);
  await sut.publish("list");
  const socket = sut.open({ channels: ["*"], after: "other-9" });
  await settled();
  expect(socket.of("subscribed")).toMatchObject([
    { resumed: "reset", cursor: `${EPOCH}-1`, lost: { reason: "epoch-changed", events: null } },
  ]);
});

test("[P5] a wait is not prolonged by events that the filter excludes", async ({ sut }) => {
  const polls = new LongPoll({ ...sut, history: sut.hub.history, stopping: sut.hub.stopping });
  const query = { channels: ["newest.*"], filter: { symbols: ["nobody"] }, after: `${EPOCH}-0` };
  let answer: unknown;
  const { signal } = new AbortController();
  void polls.take({ ...query, limit: 10, waitMs: 1_000 }, signal).then((taken) => {
    answer = taken;
  });
  for (const seq of [1, 2]) {
    sut.clock.advance(450);
    await sut.publish("list");
    await expect.poll(() => [polls.waiting, sut.head.cursor.seq]).toEqual([1, seq]);
  }
  await settled();
  expect(answer).toBeUndefined();
  sut.clock.advance(100);
  await settled();
  expect(answer).toMatchObject({ kind: "nothing", cursor: { seq: 2 } });
});
