import { expect } from "vitest";
import { websocketFraming } from "../../../src/gateway/hub/index.ts";
import { settled, test } from "./hub-fixture.ts";
import { MockSocket } from "./mock-socket.ts";

test("[W25] a drain closes sessions evenly over its window, and resolves when all are gone", async ({
  sut,
}) => {
  const sockets = Array.from({ length: 100 }, () => sut.open({ channels: ["status"] }));
  let done = false;
  const drained = sut.hub.drain(10_000).then(() => {
    done = true;
  });
  const leftBy: number[] = [];
  for (let second = 0; second < 10; second++) {
    sut.clock.advance(1_000);
    for (const socket of sockets) if (socket.closed) socket.end();
    leftBy.push(100 - sut.hub.size);
  }
  expect(leftBy).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  expect(new Set(sockets.map(({ closed }) => closed))).toEqual(new Set(["draining"]));
  expect(done).toBe(false);
  sut.clock.advance(50);
  await drained;
});

test("[W31] goaway spreads the turns of clients evenly; events continue, and each client is closed at its turn", async ({
  sut,
}) => {
  const sockets = Array.from({ length: 100 }, () => sut.open({ channels: ["newest.bsc"] }));
  const drained = sut.hub.drain(10_000);
  const reported = sockets.map((socket) => socket.of("goaway")[0]);
  expect(reported.map((message) => message?.reconnect_after_ms)).toEqual(sockets.map((_, at) => at * 100));
  expect(reported[0]).toMatchObject({ reason: "draining", window_ms: 10_000 });
  await sut.publish("list");
  expect(sockets.every((socket) => socket.of("event").length === 1)).toBe(true);
  const closedAtMs = new Map<object, number>();
  for (let now = 50; now <= 10_050; now += 50) {
    sut.clock.advance(50);
    for (const socket of sockets) if (socket.closed && !closedAtMs.has(socket)) closedAtMs.set(socket, now);
  }
  const late = sockets.map((socket, at) => (closedAtMs.get(socket) ?? Number.POSITIVE_INFINITY) - at * 100);
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...late)).toBeLessThanOrEqual(50);
  for (const socket of sockets) socket.end();
  sut.clock.advance(50);
  await drained;
});

test("[W31] a hard stop sends no goaway", ({ sut }) => {
  const socket = sut.open({ channels: ["status"] });
  const stopped = sut.hub.close();
  socket.end();
  sut.clock.advance(50);
  expect([socket.closed, socket.of("goaway")]).toEqual(["going-away", []]);
  return stopped;
});

test("[W25] a client that does not disconnect is terminated; it gets events until the close", async ({
  sut,
}) => {
  const deaf = sut.open({ channels: ["newest.bsc"] });
  const drained = sut.hub.drain(1_000);
  await sut.publish("list");
  expect(deaf.of("event").length).toBe(1);
  sut.clock.advance(1_000);
  expect([deaf.closed, deaf.terminated]).toEqual(["draining", false]);
  await sut.publish("list");
  sut.clock.advance(2_000);
  expect([deaf.of("event").length, deaf.terminated]).toEqual([1, true]);
  deaf.end();
  sut.clock.advance(50);
  await drained;
});

test("[W25] a connection that arrives after the drain is closed at once", async ({ sut }) => {
  const drained = sut.hub.drain(0);
  await drained;
  expect(sut.hub.refusal).toBe("draining");
  const late = new MockSocket();
  late.session = sut.hub.connect(late, websocketFraming);
  expect(late.closed).toBe("draining");
});

test("[W25] a hard stop closes all connections at once", async ({ sut }) => {
  const sockets = Array.from({ length: 3 }, () => sut.open({ channels: ["status"] }));
  const slowly = sut.hub.drain(60_000);
  const stopped = sut.hub.close();
  expect(sockets.map(({ closed }) => closed)).toEqual(["going-away", "going-away", "going-away"]);
  for (const socket of sockets) socket.end();
  sut.clock.advance(50);
  await Promise.all([slowly, stopped]);
  await sut.publish("list");
  await settled();
  expect(sut.hub.size).toBe(0);
});
