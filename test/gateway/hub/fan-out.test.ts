import fc from "fast-check";
import { expect } from "vitest";
import { EPOCH, FRESH, settled, test } from "./hub-fixture.ts";
import type { MockSocket } from "./mock-socket.ts";

const send = (socket: MockSocket, command: unknown) => socket.session?.receiveText(JSON.stringify(command));
const events = (socket: MockSocket) => socket.of("event").map(({ seq, prev }) => [seq, prev]);

test("[L6] sessions with equal subscriptions get the same buffer, in one write per batch", async ({
  sut,
}) => {
  const sockets = [
    sut.open({ channels: ["newest.bsc", "flares.pro"] }),
    sut.open({ channels: ["flares.pro", "newest.*", "newest.bsc"] }),
  ];
  const other = sut.open({ channels: ["*"] });
  const before = sockets.map(({ writes }) => writes.length);
  await sut.publish("list", "flare", "status", "list");
  expect(sockets.map(({ writes }) => writes.length)).toEqual(before.map((count) => count + 1));
  expect(sockets[0]?.writes.at(-1)).toBe(sockets[1]?.writes.at(-1));
  expect(other.of("event").length).toBe(4);
  expect(sockets[0]?.of("event").length).toBe(3);
});

test("[L5] each batch goes to another group first", async ({ sut }) => {
  const order: string[] = [];
  for (const transport of ["plain", "deflated"])
    sut.open({ channels: ["*"] }, (socket) => {
      socket.isDeflated = transport === "deflated";
      socket.onMessage = ({ type }) => {
        if (type === "event") order.push(transport);
      };
    });
  for (let batch = 0; batch < 3; batch++) await sut.publish("status");
  expect(order.slice(0, 2).toSorted()).toEqual(["deflated", "plain"]);
  expect(order.slice(2, 4)).toEqual(order.slice(0, 2).toReversed());
  expect(order.slice(4)).toEqual(order.slice(0, 2));
});

test("[W13] events arrive in order, each once, with the body from the log", async ({ sut }) => {
  const socket = sut.open({ channels: ["newest.bsc", "status"] });
  await sut.publish("list", "flare", "status");
  await sut.publish("flare");
  await sut.publish("list", "unlist");
  const { records } = await sut.log
    .read({ epoch: sut.log.epoch, seq: sut.log.oldest.seq }, 10)
    .then((result) => {
      if (result.kind === "lost") throw new Error("lost");
      return result;
    });
  const bodies = records
    .filter(({ channel }) => channel !== "flares.pro")
    .map(({ encoded }) => JSON.parse(`{${encoded.toString()}`));
  expect(
    socket.of("event").map(({ name, channel, observed_at, data }) => ({ name, channel, observed_at, data })),
  ).toEqual(bodies);
  expect(socket.of("event").map(({ cursor }) => cursor)).toEqual(
    [1, 3, 5, 6].map((seq) => `${EPOCH}-${seq}`),
  );
});

test("[W14] [W15] prev is the seq of the group's previous event, even for a client that joined after it", async ({
  sut,
}) => {
  const first = sut.open({ channels: ["newest.bsc"] });
  await sut.publish("list", "status");
  await sut.publish("flare");
  const second = sut.open({ channels: ["newest.bsc"] });
  await sut.publish("list");
  expect(events(first)).toEqual([
    [1, 0],
    [4, 1],
  ]);
  // Both are in one group, so both get 1. The second client's position, 3, is later, so it has
  // missed nothing either.
  expect(events(second)).toEqual([[4, 1]]);
});

test("[W15] prev is not later than the position of a client that resumed from an old event", async ({
  sut,
}) => {
  await sut.publish("list");
  await sut.publish("status", "status", "status");
  // The group already exists: another client joined it at the head.
  const fresh = sut.open({ channels: ["newest.bsc"] });
  const resumed = sut.open({ channels: ["newest.bsc"], after: `${EPOCH}-1` });
  await settled();
  await sut.publish("list");
  expect([events(resumed), events(fresh)]).toEqual([[[5, 1]], [[5, 1]]]);
});

test("[W16] every 15 seconds a heartbeat has the cursor, the positions of the subscribed channels, and freshness", async ({
  sut,
}) => {
  await sut.publish("list", "flare");
  const all = sut.open({ channels: ["newest.bsc", "status"] });
  const twin = sut.open({ channels: ["newest.bsc", "status"] });
  await sut.publish("list", "flare");
  sut.freshness = { ...FRESH, state: "stale", reason: "no news for 20 s" };
  sut.clock.advance(14_000);
  expect(all.of("heartbeat")).toEqual([]);
  sut.clock.advance(1_000);
  expect(all.messages.at(-1)).toEqual({
    type: "heartbeat",
    cursor: `${EPOCH}-4`,
    server_time: new Date(sut.clock.now()).toISOString(),
    positions: { "newest.bsc": 3, status: 0 },
    freshness: { ...FRESH, state: "stale", reason: "no news for 20 s" },
  });
  expect(all.writes.at(-1)).toBe(twin.writes.at(-1));
  sut.clock.advance(45_000);
  expect(all.of("heartbeat").length).toBe(4);
});

test("[W16] a client that is behind gets no heartbeat until it has caught up", async ({ sut }) => {
  const socket = sut.open({ channels: ["newest.bsc"] });
  socket.freeze();
  socket.highWater = 1;
  await sut.publish("list");
  const { length } = socket.writes;
  sut.clock.advance(5_000);
  socket.readOnce();
  await settled();
  socket.highWater = 4_096;
  sut.clock.advance(10_000);
  expect(socket.writes.length).toBe(length + 1);
  socket.thaw();
  expect(socket.messages.at(-1)).toMatchObject({ type: "heartbeat", cursor: `${EPOCH}-1` });
});

test("[W17] the silence limit in hello is more than twice the heartbeat interval", ({ make }) => {
  for (const heartbeatMs of [1_000, 15_000, 60_000]) {
    const hello = make({ hub: { heartbeatMs } }).open().messages[0];
    expect(hello).toMatchObject({ heartbeat_interval_ms: heartbeatMs });
    expect(Number(hello?.silence_limit_ms)).toBeGreaterThan(2 * heartbeatMs);
  }
});

test("[L5] each batch is written to another session first", async ({ sut }) => {
  const order: number[] = [];
  const sockets = Array.from({ length: 5 }, (_, index) => {
    const socket = sut.open({ channels: ["newest.bsc"] });
    socket.onMessage = () => order.push(index);
    return socket;
  });
  for (let poll = 0; poll < 5; poll++) await sut.publish("list");
  const firsts = order.filter((_, at) => at % sockets.length === 0);
  expect(new Set(firsts).size).toBe(5);
  expect(new Set(order.slice(0, 5)).size).toBe(5);
});

test("[L5] a socket whose write throws is closed with internal, and all others get the events", async ({
  sut,
}) => {
  const sockets = Array.from({ length: 4 }, () => sut.open({ channels: ["newest.bsc"] }));
  const [broken, ...healthy] = sockets;
  if (broken) broken.broken = true;
  await sut.publish("list");
  expect(healthy.map((socket) => socket.of("event").length)).toEqual([1, 1, 1]);
  expect(broken?.closed).toBe("internal");
  expect(sut.errors.splice(0)).toHaveLength(1);
  await sut.publish("list");
  expect(healthy.map((socket) => socket.of("event").length)).toEqual([2, 2, 2]);
});

test("an ended session is removed and gets no events; neither does one that unsubscribed", async ({
  sut,
}) => {
  const sockets = Array.from({ length: 3 }, () => sut.open({ channels: ["newest.bsc"] }));
  expect(sut.hub.size).toBe(3);
  const [first, second, third] = sockets;
  first?.end();
  first?.end();
  expect(sut.hub.size).toBe(2);
  await sut.publish("list");
  expect([first, second, third].map((socket) => socket?.of("event").length)).toEqual([0, 1, 1]);
  if (second) send(second, { type: "unsubscribe", id: "url" });
  await sut.publish("list");
  expect([second, third].map((socket) => socket?.of("event").length)).toEqual([1, 2]);
});

test("[L5] [W13] as clients join and leave in any order, each connected client gets each event once, and the others none", async ({
  make,
}) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 30 }), async (steps) => {
      const sut = make();
      const following: MockSocket[] = [];
      for (const [joins, which] of steps) {
        if (joins || following.length === 0) following.push(sut.open({ channels: ["newest.bsc"] }));
        else following.splice(which % following.length, 1)[0]?.end();
        const before = following.map((socket) => socket.of("event").length);
        await sut.publish("list");
        expect(following.map((socket) => socket.of("event").length)).toEqual(
          before.map((count) => count + 1),
        );
      }
      // A write to an ended socket throws, and the hub reports that.
      expect(sut.errors).toEqual([]);
    }),
    { numRuns: 50 },
  );
});
