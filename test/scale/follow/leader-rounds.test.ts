import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import type { WebSocket } from "ws";
import { type ScriptedServer, send, startScriptedServer } from "../../app/cli/scripted-server.ts";
import { FRESH } from "../../gateway/hub/hub-fixture.ts";
import { test as base, stillRunning } from "../../support/time/still-running.ts";
import { BEGUN, type FollowerUnderTest, HELLO, startFollower, statusEvent } from "./scripted-leader.ts";

/*
 * Tests a follower's second and third connections: its counters must restart after a connection
 * that worked, and only then.
 */

const KEY = "fw_0123456789abcdef";

const test = base.extend<{ server: ScriptedServer; follower: FollowerUnderTest }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  server: async ({}, use) => {
    await using server = await startScriptedServer();
    await use(server);
  },
  follower: async ({ server }, use) => {
    const follower = startFollower(server.url, KEY);
    await use(follower);
    await follower.stop();
  },
});

const RESUMED = { type: "subscribed", id: "url", channels: [], cursor: "abcd-5", resumed: "full" };
const HEARTBEAT = {
  type: "heartbeat",
  cursor: "abcd-5",
  server_time: HELLO.server_time,
  positions: {},
  freshness: HELLO.freshness,
};

/** Returns the next connection after the greeting. It starts over or resumes. */
async function linked(
  server: ScriptedServer,
  follower: FollowerUnderTest,
  answer: object = BEGUN,
  hello: object = {},
) {
  const { socket, query } = await server.next();
  for (const frame of [{ ...HELLO, ...hello }, answer]) send(socket, frame);
  await expect.poll(() => follower.leader.isConnected).toBe(true);
  return { socket, query };
}

/** Resolves when the follower has read everything sent so far. */
async function read(follower: FollowerUnderTest, socket: WebSocket, seq: number): Promise<void> {
  const before = follower.batches.length;
  send(socket, statusEvent(seq));
  await expect.poll(() => follower.batches.length).toBe(before + 1);
}

test("[F5] [F7] a leader that diverges repeatedly is retried later each time, until the first good connection", async ({
  server,
  follower,
}) => {
  const waits: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const { socket, query } = await linked(server, follower, {
      ...BEGUN,
      resumed: "reset",
    });
    expect(query.get("after")).toBeNull();
    const wait = follower.nextWait();
    send(socket, statusEvent(8));
    waits.push(await wait);
    follower.clock.advance(60_000);
  }
  expect(waits).toEqual([2_500, 4_500, 8_500, 15_500]);
  const good = await linked(server, follower);
  const closed = follower.nextWait();
  good.socket.close(4200);
  expect(await closed).toBe(0);
  const next = await linked(server, follower, RESUMED);
  expect(next.query.get("after")).toBe("abcd-5");
  const diverged = follower.nextWait();
  send(next.socket, statusEvent(8));
  expect(await diverged).toBe(2_500);
});

test("[F7] [W17] any message keeps a connection; a silent one is closed, and the second in a row is followed by a wait", async ({
  server,
  follower,
}) => {
  const { clock, leader } = follower;
  const { socket } = await linked(server, follower, BEGUN, { silence_limit_ms: 7_000 });
  for (let seq = 6; seq < 13; seq += 1) {
    clock.advance(6_000);
    send(socket, HEARTBEAT);
    await read(follower, socket, seq);
    expect([leader.isConnected, leader.freshness().state]).toEqual([true, "live"]);
  }
  const first = follower.nextWait();
  clock.advance(7_500);
  expect(await first).toBe(0);
  // The previous connection's limit does not apply: this one has not greeted yet.
  const mute = await server.next();
  const second = follower.nextWait();
  clock.advance(35_000);
  const closed = once(mute.socket, "close");
  clock.advance(500);
  expect(await second).toBe(2_500);
  await closed;
  expect(follower.notices.at(-1)).toMatch(/sent nothing for 35000 ms; connecting again in 2\.5 s/);
  clock.advance(2_500);
  await server.next();
  const third = follower.nextWait();
  clock.advance(35_500);
  expect(await third).toBe(4_500);
});

test.for([
  [0, 1_000],
  [1_000_000_000_000, 300_000],
] as const)(
  "[F7] a silence limit of %i ms counts as %i",
  async ([asked, silenceMs], { server, follower }) => {
    await linked(server, follower, BEGUN, { silence_limit_ms: asked });
    follower.clock.advance(silenceMs);
    await turn();
    expect(follower.leader.isConnected).toBe(true);
    const wait = follower.nextWait();
    follower.clock.advance(500);
    await wait;
    expect(follower.notices.at(-1)).toContain(`sent nothing for ${silenceMs} ms`);
  },
);

test("[F7] [W31] the reconnect time of a connection that broke earlier does not end a later one", async ({
  server,
  follower,
}) => {
  const first = await linked(server, follower);
  const slot = follower.nextWait();
  send(first.socket, { type: "goaway", reason: "draining", reconnect_after_ms: 4_000, window_ms: 10_000 });
  await slot;
  const wait = follower.nextWait();
  first.socket.close(4200);
  expect(await wait).toBe(0);
  const { socket } = await linked(server, follower, RESUMED);
  follower.clock.advance(4_000);
  await read(follower, socket, 6);
  expect(follower.leader.isConnected).toBe(true);
  // The lost connection no longer counts.
  follower.clock.advance(20_000);
  expect(follower.leader.freshness().state).toBe("live");
});

test("[F4] a state in the leader's backlog is not its current state; one after its greeting is", async ({
  server,
  follower,
}) => {
  const { socket } = await linked(server, follower, BEGUN, { cursor: "abcd-6" });
  send(socket, statusEvent(6, 6, "down"));
  await expect.poll(() => follower.batches.length).toBe(1);
  expect(follower.leader.freshness().state).toBe("live");
  send(socket, statusEvent(7, 7, "down"));
  await expect.poll(() => follower.batches.length).toBe(2);
  expect(follower.leader.freshness().state).toBe("down");
});

test("[F7] a stopped follower closes its connection, leaves no timer and starts no other connection", async ({
  server,
  follower,
}) => {
  const { socket } = await linked(server, follower);
  const slot = follower.nextWait();
  send(socket, { type: "goaway", reason: "draining", reconnect_after_ms: 4_000, window_ms: 10_000 });
  expect(await slot).toBe(4_000);
  const closed = once(socket, "close");
  await follower.stop();
  await closed;
  const { notices } = follower;
  expect(notices).toEqual(["connected to the leader; mirroring starts at abcd-5"]);
  expect(follower.leader.isConnected).toBe(false);
});

test("[K6] a refusal that contains the key is reported without it", async ({ server, follower }) => {
  server.refuse = { status: 401, body: JSON.stringify({ detail: `no key ${KEY}, none like ${KEY}` }) };
  await follower.nextWait();
  expect(follower.notices.at(-1)).toMatch(/HTTP 401: no key \*\*\*, none like \*\*\*;/);
});

test("[F5] [F7] if a connection ends while a batch is written, the next one starts after the write, with the batch's cursor", async ({
  server,
  follower,
}) => {
  const { socket } = await linked(server, follower);
  const [begun, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  follower.beforePublish = () => {
    begun.resolve();
    return written.promise;
  };
  send(socket, statusEvent(6));
  await begun.promise;
  // Nothing more arrives, so the connection ends.
  follower.clock.advance(35_500);
  await turn();
  expect([follower.leader.isConnected, follower.notices.length]).toEqual([true, 1]);
  const wait = follower.nextWait();
  written.resolve();
  expect(await wait).toBe(0);
  expect((await server.next()).query.get("after")).toBe("abcd-6");
});

test("[F7] messages that arrive in one piece after a message that ends the connection are ignored", async ({
  server,
  follower,
}) => {
  for (const last of [statusEvent(8), { type: "hello" }]) {
    const { socket } = await linked(server, follower, { ...BEGUN, resumed: "reset" });
    const wait = follower.nextWait();
    for (const frame of [last, statusEvent(6), HEARTBEAT]) send(socket, frame);
    await wait;
    follower.clock.advance(60_000);
  }
  expect(follower.batches).toEqual([]);
});

test("[F7] ended connections leave no timer and no listener, even after many", async ({
  server,
  follower,
}) => {
  for (let round = 0; round < 3; round += 1) {
    const { socket } = await linked(server, follower, { ...BEGUN, resumed: "reset" });
    const wait = follower.nextWait();
    socket.close(4100);
    await wait;
    expect(stillRunning()).toEqual(["sleep of FollowedLeader.run in src/scale/follow/leader.ts"]);
    follower.clock.advance(60_000);
  }
});

test("[F4] the leader's report on its data is passed on only up to a limit that protects clients", async ({
  server,
  follower,
}) => {
  const long = "x".repeat(10_000);
  const part = { name: long, state: "stale", reason: long, observed_at: null, data_age_ms: 0 };
  const freshness = { ...FRESH, state: "stale", reason: long, parts: Array(50).fill(part) };
  const { socket } = await linked(server, follower, BEGUN, { freshness });
  const sizes = () => {
    const { reason, parts = [] } = follower.leader.freshness();
    const longest = (field: "name" | "reason") => Math.max(0, ...parts.map((one) => one[field].length));
    return [reason.length, parts.length, longest("name"), longest("reason")];
  };
  expect(sizes()).toEqual([300, 32, 64, 300]);
  send(socket, { ...HEARTBEAT, freshness: { ...freshness, parts: undefined } });
  await expect.poll(sizes).toEqual([300, 0, 0, 0]);
  send(socket, { ...statusEvent(6), data: { state: "down", reason: long } });
  await expect.poll(() => follower.batches.length).toBe(1);
  expect([sizes(), follower.leader.freshness().state]).toEqual([[300, 0, 0, 0], "down"]);
});
