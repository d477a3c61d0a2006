import { expect } from "vitest";
import { projectSnapshot } from "../../../../src/base/protocol/index.ts";
import { EPOCH, settled, test } from "../hub-fixture.ts";
import type { MockSocket } from "../mock-socket.ts";

const send = (socket: MockSocket, command: unknown) => socket.session?.receiveText(JSON.stringify(command));
const last = (socket: MockSocket) => socket.messages.at(-1);
const seqs = (socket: MockSocket) => socket.of("event").map(({ seq }) => seq);

test("[W4] the server speaks first: hello with head, limits, times and source", async ({ sut }) => {
  await sut.publish("list");
  const socket = sut.open();
  expect(socket.messages).toMatchObject([
    {
      type: "hello",
      protocol: "flarewire.v1",
      epoch: EPOCH,
      cursor: `${EPOCH}-1`,
      heartbeat_interval_ms: 15_000,
      silence_limit_ms: 35_000,
      limits: { inbound_bytes: 4_096, commands_per_second: 5, commands_burst: 20, subscriptions: 64 },
      source: { origin: "simulated" },
      freshness: { state: "live" },
    },
  ]);
});

test("[W8] without a cursor, a subscription starts with the snapshot at the head, and continues from there", async ({
  sut,
}) => {
  await sut.publish("list", "flare");
  const socket = sut.open();
  send(socket, { type: "subscribe", id: "a", channels: ["newest.*", "flares.pro"] });
  expect(last(socket)).toEqual({
    type: "subscribed",
    id: "a",
    channels: ["flares.pro", "newest.bsc"],
    cursor: `${EPOCH}-2`,
    resumed: "reset",
    snapshot: JSON.parse(JSON.stringify(projectSnapshot(sut.head.snapshot, ["flares.pro", "newest.bsc"]))),
  });
  await sut.publish("list");
  expect(last(socket)).toMatchObject({ type: "event", seq: 3, prev: 2, name: "token-listed" });
});

test("[W8] with snapshot false the lists are left out", async ({ sut }) => {
  const socket = sut.open({ channels: ["*"], snapshot: false });
  expect(last(socket)).toMatchObject({ type: "subscribed", resumed: "reset", cursor: `${EPOCH}-0` });
  expect(last(socket)).not.toHaveProperty("snapshot");
});

test("[L3] [W9] a subscription with a stored cursor gets every event after it, then newer ones", async ({
  sut,
}) => {
  await sut.publish("list", "status", "list");
  await sut.publish("flare", "list");
  const socket = sut.open({ channels: ["newest.bsc"], after: `${EPOCH}-1` });
  await settled();
  expect(socket.of("subscribed")).toEqual([
    { type: "subscribed", id: "url", channels: ["newest.bsc"], cursor: `${EPOCH}-1`, resumed: "full" },
  ]);
  await sut.publish("list");
  expect(socket.of("event").map(({ seq, prev }) => [seq, prev])).toEqual([
    [3, 1],
    [5, 3],
    [6, 5],
  ]);
});

test("[W9] a subscription with the head's cursor resumes at once", async ({ sut }) => {
  await sut.publish("list");
  const socket = sut.open({ channels: ["*"], after: `${EPOCH}-1`, snapshot: false });
  expect(last(socket)).toMatchObject({ resumed: "full", cursor: `${EPOCH}-1` });
  await sut.publish("list");
  expect(seqs(socket)).toEqual([2]);
});

test("[L3] [W9] a cursor that cannot be resumed gets one response with the reset, the loss, its reason and, unless declined, the snapshot", async ({
  make,
}) => {
  const sut = make({ log: { minCount: 2, maxAgeMs: 0 } });
  for (let poll = 0; poll < 6; poll++) {
    sut.clock.advance(1);
    await sut.publish("list");
  }
  const cases = [
    [`${EPOCH}-1`, { reason: "expired", events: 5 }],
    [`other-3`, { reason: "epoch-changed", events: null }],
    [`${EPOCH}-99`, { reason: "ahead", events: null }],
  ] as const;
  for (const [after, lost] of cases) {
    const socket = sut.open({ channels: ["newest.bsc"], after });
    const without = sut.open({ channels: ["newest.bsc"], after, snapshot: false });
    await settled();
    const snapshot = JSON.parse(JSON.stringify(projectSnapshot(sut.head.snapshot, ["newest.bsc"])));
    expect(last(socket)).toMatchObject({ resumed: "reset", cursor: `${EPOCH}-6`, lost, snapshot });
    expect(last(without)).toMatchObject({ resumed: "reset", cursor: `${EPOCH}-6`, lost });
    expect(last(without)).not.toHaveProperty("snapshot");
  }
});

test("[W10] a cursor is accepted in the first subscription only, and an invalid one is rejected", ({
  sut,
}) => {
  const socket = sut.open();
  send(socket, { type: "subscribe", id: "a", channels: ["*"], after: "yesterday" });
  expect(last(socket)).toMatchObject({ type: "error", id: "a", code: "invalid-parameter", field: "after" });
  send(socket, { type: "subscribe", id: "a", channels: ["status"], after: `${EPOCH}-0` });
  expect(last(socket)).toMatchObject({ type: "subscribed", resumed: "full" });
  send(socket, { type: "subscribe", id: "b", channels: ["*"], after: `${EPOCH}-0` });
  expect(last(socket)).toMatchObject({ type: "error", id: "b", code: "cursor-conflict", field: "after" });
});

test("[W11] a later subscription gets the lists of its new channels only, as they are at its cursor", async ({
  sut,
}) => {
  const socket = sut.open({ channels: ["newest.bsc"] });
  await sut.publish("list", "flare");
  send(socket, { type: "subscribe", id: "more", channels: ["newest.bsc", "flares.pro"] });
  expect(last(socket)).toMatchObject({
    id: "more",
    channels: ["flares.pro", "newest.bsc"],
    cursor: `${EPOCH}-2`,
    resumed: "reset",
    snapshot: JSON.parse(JSON.stringify(projectSnapshot(sut.head.snapshot, ["flares.pro"]))),
  });
  expect(last(socket)).not.toHaveProperty("snapshot.newest");
  await sut.publish("flare", "list");
  expect(seqs(socket)).toEqual([1, 3, 4]);
});

test("[W12] each event of a channel with two subscriptions is sent once, until both have ended", async ({
  sut,
}) => {
  const socket = sut.open({ channels: ["newest.bsc"] });
  send(socket, { type: "subscribe", id: "b", channels: ["*"] });
  await sut.publish("list");
  send(socket, { type: "unsubscribe", id: "b" });
  expect(last(socket)).toEqual({ type: "unsubscribed", id: "b", cursor: `${EPOCH}-1` });
  await sut.publish("list", "flare");
  send(socket, { type: "unsubscribe", id: "url" });
  await sut.publish("list");
  expect(seqs(socket)).toEqual([1, 2]);
});

test("the hub refuses connections until there is a snapshot", async ({ make }) => {
  const sut = make({ ready: false });
  expect(sut.hub.refusal).toBe("not-ready");
  await sut.head.publish({ events: [] });
  expect(sut.hub.refusal).toBe("not-ready");
  await sut.publish("list");
  expect(sut.hub.refusal).toBeUndefined();
});

test("[W46] a rejected subscription does not limit the connection's messages, and the first accepted one does", async ({
  sut,
}) => {
  await sut.publish(...Array(60).fill("list"));
  const socket = sut.open();
  const subscribe = { type: "subscribe", channels: ["newest.bsc"], max_message: 8_192 };
  send(socket, { ...subscribe, id: "a", after: "none" });
  expect(last(socket)).toMatchObject({ type: "error", id: "a", field: "after" });
  send(socket, { ...subscribe, id: "b", max_message: 524_288 });
  expect(last(socket)).toMatchObject({ type: "subscribed", id: "b" });
  expect(socket.of("part")).toEqual([]);
  send(socket, { type: "unsubscribe", id: "b" });
  send(socket, { ...subscribe, id: "c", after: `${EPOCH}-0` });
  expect(last(socket)).toMatchObject({ type: "error", code: "cursor-conflict" });
  send(socket, { ...subscribe, id: "d" });
  expect(socket.of("part")).toEqual([]);
});

test("[W46] a limit counts as the power of two below it, so that clients get equal parts", async ({
  sut,
}) => {
  await sut.publish(...Array(60).fill("list"));
  const [parts, ...others] = [8_192, 9_001, 16_383].map((max_message) => {
    const socket = sut.open({ channels: ["newest.bsc"], max_message });
    return socket.messages.slice(1);
  });
  expect(parts?.length).toBeGreaterThan(2);
  expect(others).toEqual([parts, parts]);
});

test("[W46] [F2] a mirror's response is whole after a subscription with a limit", async ({ sut }) => {
  await sut.publish(...Array(60).fill("list"));
  const socket = sut.open({ channels: ["status"], max_message: 8_192 });
  send(socket, { type: "subscribe", id: "m", channels: ["*"], mirror: true });
  expect(last(socket)).toMatchObject({ type: "subscribed", id: "m" });
  expect([socket.of("part"), last(socket)?.parts]).toEqual([[], undefined]);
});
