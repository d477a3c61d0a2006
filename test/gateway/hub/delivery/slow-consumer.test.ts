import { expect } from "vitest";
import { EPOCH, type HubUnderTest, settled, test } from "../hub-fixture.ts";
import type { MockSocket } from "../mock-socket.ts";

const seqs = (socket: MockSocket) => socket.of("event").map(({ seq }) => seq);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

async function publishMany(sut: HubUnderTest, polls: number): Promise<void> {
  for (let poll = 0; poll < polls; poll++) await sut.publish("list", "unlist", "flare", "refresh");
}

test("[L5] [W23] a frozen client buffers at most its limit and one write, and another client gets every event", async ({
  sut,
}) => {
  const frozen = sut.open({ channels: ["*"] });
  const healthy = sut.open({ channels: ["*"] });
  frozen.freeze();
  await publishMany(sut, 500);
  const most = Math.max(...frozen.writes.map(({ length }) => length));
  expect(frozen.waitingBytes).toBeLessThanOrEqual(frozen.highWater + most);
  expect(seqs(healthy)).toEqual(upTo(2_000));
});

test("[L3] [W23] a client that reads again catches up from the log in joined batches, then gets the others' buffers", async ({
  sut,
}) => {
  const slow = sut.open({ channels: ["*"] });
  const healthy = sut.open({ channels: ["*"] });
  slow.freeze();
  await publishMany(sut, 250);
  slow.highWater = 2 ** 20;
  const { length } = slow.writes;
  slow.thaw();
  await settled();
  expect(seqs(slow)).toEqual(upTo(1_000));
  expect(slow.writes.length - length).toBeLessThanOrEqual(20);
  await sut.publish("list");
  expect(seqs(slow)).toEqual(upTo(1_001));
  expect(slow.writes.at(-1)).toBe(healthy.writes.at(-1));
  expect(slow.of("event").map(({ prev }) => prev)).toEqual(upTo(1_001).map((seq) => seq - 1));
});

test("[W23] the size of each write to a client that catches up is bounded", async ({ make }) => {
  const sut = make({ hub: { limits: { catchUpBytes: 5_000 } } });
  await publishMany(sut, 100);
  const socket = sut.open({ channels: ["*"], after: `${EPOCH}-0` }, (opened) => {
    opened.highWater = 2 ** 20;
  });
  await settled();
  expect(seqs(socket)).toEqual(upTo(400));
  const largest = Math.max(...socket.writes.map(({ length }) => length));
  expect(largest).toBeLessThan(5_000 + 4_000);
});

test("[W23] a throttled client keeps its connection and gets every event", async ({ make }) => {
  const sut = make({ hub: { limits: { catchUpBytes: 2_000 } } });
  const slow = sut.open({ channels: ["*"] });
  slow.freeze();
  for (let second = 0; second < 60; second++) {
    await publishMany(sut, 1);
    sut.clock.advance(1_000);
    if (second % 9 === 0) slow.readOnce();
    await settled();
  }
  for (let turn = 0; turn < 200; turn++) {
    slow.readOnce();
    await settled();
  }
  expect([slow.closed, seqs(slow)]).toEqual([undefined, upTo(240)]);
});

test("[W23] a client that reads nothing for 10 seconds is closed, and terminated 2 seconds later", async ({
  sut,
}) => {
  const frozen = sut.open({ channels: ["*"] }, (socket) => {
    socket.highWater = 20_000;
  });
  const quiet = sut.open({ channels: ["status"] });
  frozen.freeze();
  await publishMany(sut, 20);
  sut.clock.advance(9_000);
  // One byte is progress.
  frozen.progress += 1;
  sut.clock.advance(10_000);
  expect(frozen.closed).toBeUndefined();
  sut.clock.advance(1_000);
  expect([frozen.closed, frozen.terminated]).toEqual(["slow-consumer", false]);
  sut.clock.advance(2_000);
  expect([frozen.terminated, quiet.closed]).toEqual([true, undefined]);
});

test("[W23] a frozen client is closed when the log has dropped its next event", async ({ make }) => {
  const sut = make({ log: { minCount: 20, maxAgeMs: 0 } });
  const frozen = sut.open({ channels: ["*"] });
  frozen.freeze();
  frozen.highWater = 1;
  await sut.publish("list");
  for (let poll = 0; poll < 10; poll++) {
    sut.clock.advance(10);
    await publishMany(sut, 1);
  }
  expect(frozen.closed).toBeUndefined();
  sut.clock.advance(1_000);
  expect(frozen.closed).toBe("slow-consumer");
});

test("[W23] a client that reads again after the log dropped its next event is closed", async ({ make }) => {
  const sut = make({ log: { minCount: 20, maxAgeMs: 0 } });
  const frozen = sut.open({ channels: ["*"] });
  frozen.freeze();
  frozen.highWater = 1;
  await sut.publish("list");
  for (let poll = 0; poll < 10; poll++) {
    sut.clock.advance(10);
    await publishMany(sut, 1);
  }
  frozen.thaw();
  await settled();
  expect([frozen.closed, seqs(frozen)]).toEqual(["slow-consumer", [1]]);
});

test("[L3] events that are in the log before the head is updated are not sent twice", async ({ sut }) => {
  const socket = sut.open({ channels: ["*"] });
  socket.freeze();
  socket.highWater = 1;
  await sut.publish("list");
  await sut.publish("list");
  const append = sut.log.append.bind(sut.log);
  sut.log.append = async (events) => {
    const records = await append(events);
    socket.highWater = 4_096;
    socket.thaw();
    await settled();
    return records;
  };
  await sut.publish("list", "list");
  await settled();
  expect(seqs(socket)).toEqual([1, 2, 3, 4]);
});

test("[L5] if the socket fills up while the log is read, the events are sent only when it has room again", async ({
  sut,
}) => {
  await sut.publish("list");
  const socket = sut.open({ channels: ["*"], after: `${EPOCH}-0` });
  socket.freeze();
  socket.highWater = 1;
  socket.session?.goAway(0, 0);
  await settled();
  expect(socket.writes.length).toBe(3);
  socket.highWater = 4_096;
  socket.thaw();
  await settled();
  expect(socket.messages.map(({ type }) => type)).toEqual(["hello", "goaway", "subscribed", "event"]);
});

test("if the log fails while a session catches up, that session is closed with internal", async ({ sut }) => {
  await sut.publish("list");
  sut.log.read = () => Promise.reject(new Error("disk gone"));
  const socket = sut.open({ channels: ["*"], after: `${EPOCH}-0` });
  await settled();
  expect(socket.closed).toBe("internal");
  expect(sut.errors.splice(0)).toEqual([new Error("disk gone")]);
});

test("[W26] a client that is closed while the log is read for it gets nothing after the close", async ({
  sut,
}) => {
  await publishMany(sut, 3);
  const socket = sut.open({ channels: ["*"], after: `${EPOCH}-0` });
  socket.session?.oversize();
  await settled();
  // A write after the close would throw, and the hub would report that.
  expect([socket.closed, socket.messages.map(({ type }) => type)]).toEqual(["message-too-big", ["hello"]]);
});
