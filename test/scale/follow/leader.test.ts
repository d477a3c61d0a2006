import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "vitest";
import type { WebSocket } from "ws";
import { type ScriptedServer, send, startScriptedServer } from "../../app/cli/scripted-server.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { test as base } from "../../support/time/still-running.ts";
import { BEGUN, type FollowerUnderTest, HELLO, startFollower, statusEvent } from "./scripted-leader.ts";

const test = base.extend<{ server: ScriptedServer; follower: FollowerUnderTest }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  server: async ({}, use) => {
    await using server = await startScriptedServer();
    await use(server);
  },
  follower: async ({ server }, use) => {
    const follower = startFollower(server.url);
    await use(follower);
    await follower.stop();
  },
});

/** Returns the next connection after the greeting, with its query parameters. */
async function greeted(server: ScriptedServer, answer: object = BEGUN) {
  const { socket, query } = await server.next();
  for (const frame of [HELLO, answer]) send(socket, frame);
  return { socket, query };
}

/** Ends the connection from the leader's side. Resolves with the wait until the next attempt. */
async function waitAfter(follower: FollowerUnderTest, socket: WebSocket, code: number): Promise<number> {
  const wait = follower.nextWait();
  socket.close(code);
  return wait;
}

test("[F2] [F7] it requests all channels as a mirror, with the same client id each time, and later with its cursor", async ({
  server,
  follower,
}) => {
  const { socket, query } = await greeted(server);
  expect(Object.fromEntries(query)).toEqual({
    channels: "*",
    mirror: "true",
    client: expect.stringMatching(/^[-0-9a-f]{36}$/),
  });
  for (const event of [statusEvent(6, 7), statusEvent(7), statusEvent(8, 9)]) send(socket, event);
  await expect.poll(() => follower.batches.length).toBe(1);
  expect(follower.begun).toEqual(["abcd-5"]);
  expect(follower.batches[0]?.events.map(({ seq, batch }) => [seq, batch])).toEqual([
    [6, 7],
    [7, 7],
  ]);
  expect(await waitAfter(follower, socket, 4201)).toBe(0);
  const again = await server.next();
  // The part of a batch that arrived before the cut is requested again.
  expect(again.query.get("after")).toBe("abcd-7");
  expect(again.query.get("client")).toBe(query.get("client"));
  send(again.socket, { ...HELLO, cursor: "abcd-9" });
  send(again.socket, { type: "subscribed", id: "url", channels: [], cursor: "abcd-7", resumed: "full" });
  for (const event of [statusEvent(8, 9), statusEvent(9)]) send(again.socket, event);
  await expect.poll(() => follower.batches.length).toBe(2);
  expect(follower.begun).toEqual(["abcd-5"]);
});

test("[F2] a leader of an earlier version, which measures no outcomes, is followed", async ({
  server,
  follower,
}) => {
  const { outcomes: _none, ...snapshot } = BEGUN.snapshot;
  await greeted(server, { ...BEGUN, snapshot });
  await expect.poll(() => follower.begun).toEqual(["abcd-5"]);
});

test("[F7] [W26] the close code determines the wait: none, a random time, or at least half a minute", async ({
  server,
  follower,
}) => {
  const waits: number[] = [];
  for (const code of [4200, 4204, 4100, 4001, 1001]) {
    const { socket } = await greeted(server, waits.length === 0 ? BEGUN : { ...BEGUN, resumed: "reset" });
    await expect.poll(() => follower.leader.isConnected).toBe(true);
    waits.push(await waitAfter(follower, socket, code));
    expect(follower.leader.isConnected).toBe(false);
    follower.clock.advance(60_000);
  }
  expect(waits).toEqual([0, 0, 1_500, 45_000, 1_500]);
});

test("[F7] [W31] the follower leaves a leader that sends goaway at the given time, and uses its events until then", async ({
  server,
  follower,
}) => {
  const { socket } = await greeted(server);
  const slot = follower.nextWait();
  send(socket, { type: "goaway", reason: "draining", reconnect_after_ms: 4_321, window_ms: 10_000 });
  expect(await slot).toBe(4_321);
  send(socket, statusEvent(6));
  await expect.poll(() => follower.batches.length).toBe(1);
  follower.clock.advance(4_320);
  expect(follower.leader.isConnected).toBe(true);
  const [wait, closed] = [follower.nextWait(), once(socket, "close")];
  follower.clock.advance(1);
  expect(await wait).toBe(0);
  await closed;
  expect((await server.next()).query.get("after")).toBe("abcd-6");
});

test("[F7] [W17] the follower leaves a leader that is silent for longer than its own limit", async ({
  server,
  follower,
}) => {
  const { socket } = await server.next();
  send(socket, { ...HELLO, silence_limit_ms: 7_000 });
  send(socket, BEGUN);
  await expect.poll(() => follower.leader.isConnected).toBe(true);
  follower.clock.advance(7_000);
  await turn();
  expect(follower.leader.isConnected).toBe(true);
  const wait = follower.nextWait();
  follower.clock.advance(500);
  expect(await wait).toBe(0);
  expect(follower.notices.at(-1)).toMatch(/^the leader sent nothing for 7000 ms; connecting again in 0/);
});

test("[F7] failed attempts wait longer each time, at random, and at least as long as the leader requests", async ({
  server,
  follower,
}) => {
  server.refuse = { status: 503, body: '{"detail":"no data yet; connect again soon"}' };
  const first = follower.nextWait();
  const waits = [await first];
  for (let failure = 1; failure < 7; failure += 1) {
    const next = follower.nextWait();
    follower.clock.advance(120_000);
    waits.push(await next);
  }
  expect(waits).toEqual([2_500, 4_500, 8_500, 15_500, 15_500, 15_500, 15_500]);
  expect(follower.leader.freshness()).toMatchObject({
    state: "down",
    reason: "the leader rejected the connection with HTTP 503: no data yet; connect again soon",
    last_success_at: null,
  });
  server.refuse = { status: 503, headers: { "Retry-After": "90" }, body: "" };
  const requestedWait = follower.nextWait();
  follower.clock.advance(120_000);
  expect(await requestedWait).toBe(104_500);
  server.refuse = { status: 404, body: "<html>" };
  const stop = follower.nextWait();
  follower.clock.advance(120_000);
  expect(await stop).toBe(45_000);
});

const hostile: readonly (readonly [string, readonly unknown[], RegExp])[] = [
  ["no JSON", ["<html>"], /cannot be mirrored: it sent invalid JSON/],
  ["another program", [{ type: "welcome" }], /its first message is not a Flarewire hello/],
  ["an event first", [statusEvent(6)], /its first message is not a Flarewire hello/],
  ["a hello of another form", [{ ...HELLO, epoch: 7 }], /hello\.epoch in a form that this version/],
  ["one too old to tell a base", [HELLO, { ...BEGUN, base: undefined }], /its version is too old/],
  ["one too old to mark batches", [HELLO, BEGUN, { ...statusEvent(6), batch: undefined }], /too old/],
  ["a refusal", [HELLO, { type: "error", code: "unknown-channel", message: "no" }], /unknown-channel: no/],
  ["a list of another type", [HELLO, { ...BEGUN, snapshot: { ...BEGUN.snapshot, charts: 4 } }], /snapshot/],
  ["a snapshot in part", [HELLO, { ...BEGUN, snapshot: { explanations: {} } }], /snapshot/],
  ["depth", [HELLO, `{"type":"event","data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`], /nested deeper/],
  ["a number beyond all", [HELLO, '{"type":"event","data":1e999}'], /beyond the range/],
  ["an unknown event", [HELLO, BEGUN, { ...statusEvent(6), name: "moon-landed" }], /event\.name/],
  ["an event of another epoch", [HELLO, BEGUN, { ...statusEvent(6), cursor: "efgh-6" }], /another epoch/],
  [
    "a cursor beside its seq",
    [HELLO, BEGUN, { ...statusEvent(6), cursor: "abcd-7" }],
    /has the cursor abcd-7/,
  ],
  ["a batch that ends before it begins", [HELLO, BEGUN, statusEvent(6, 5)], /batch that ends with 5/],
  ["a batch without end", [HELLO, BEGUN, statusEvent(6, 10 ** 9)], /batch that ends with/],
  ["a batch within another", [HELLO, BEGUN, statusEvent(6, 8), statusEvent(7, 7)], /batch that ends with 7/],
  ["a second beginning", [HELLO, BEGUN, BEGUN], /a second base/],
  ["an unrequested resumption", [HELLO, { ...BEGUN, resumed: "full" }], /which was not requested/],
  [
    "positions that do not fit",
    [HELLO, { ...BEGUN, cursor: "abcd-9" }],
    /latest event is 5, but its cursor is 9/,
  ],
];

test.for(hostile)(
  "[F7] %s: it reports the reason, keeps its lists, and retries later",
  async ([, frames, reason], { server, follower }) => {
    const wait = follower.nextWait();
    const { socket } = await server.next();
    for (const frame of frames) socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
    expect(await wait).toBe(45_000);
    expect(follower.notices.at(-1)).toMatch(reason);
    expect(follower.notices.at(-1)?.length).toBeLessThan(600);
    expect(follower.batches).toEqual([]);
    // A repaired leader is followed without intervention.
    follower.clock.advance(45_000);
    const { query, socket: better } = await server.next();
    expect(query.get("after")).toBe(follower.begun[0] ?? null);
    send(better, HELLO);
    send(better, { ...BEGUN });
    await expect.poll(() => follower.leader.isConnected).toBe(true);
  },
);

test("[F5] [F7] after events that leave a gap or do not fit the lists, it starts over without its cursor", async ({
  server,
  follower,
}) => {
  const misfit = {
    ...statusEvent(6),
    name: "token-unlisted",
    channel: "newest.bsc",
    data: { op: "remove", id: "nobody" },
  };
  for (const event of [statusEvent(8), misfit]) {
    const wait = follower.nextWait();
    const { socket, query } = await greeted(server);
    expect(query.get("after")).toBeNull();
    send(socket, event);
    expect(await wait).toBeGreaterThanOrEqual(1_000);
    follower.clock.advance(60_000);
  }
  const { query } = await server.next();
  expect(query.get("after")).toBeNull();
  expect(follower.notices.filter((notice) => /does not continue the local log/.test(notice))).toHaveLength(2);
});

test("[F7] if a batch cannot be published, the connection ends, and the next publication follows without a gap", async ({
  server,
  follower,
}) => {
  const { socket } = await greeted(server);
  follower.failing = true;
  const wait = follower.nextWait();
  for (const event of [statusEvent(6), statusEvent(7)]) send(socket, event);
  expect(await wait).toBeGreaterThanOrEqual(1_000);
  expect(follower.notices.at(-1)).toContain("the disk is gone");
  follower.failing = false;
  follower.clock.advance(60_000);
  await greeted(server);
  await expect.poll(() => follower.begun).toEqual(["abcd-5", "abcd-5"]);
});

test.runIf(IS_SOAK)(
  "a batch that does not end is rejected before it fills the memory",
  async ({ server, follower }) => {
    const { socket } = await greeted(server);
    const padding = "x".repeat(9 * 2 ** 20);
    for (let seq = 6; seq < 14; seq++) {
      const event = statusEvent(seq, 50_000);
      send(socket, { ...event, data: { ...event.data, reason: padding } });
    }
    await follower.nextWait();
    expect(follower.notices.at(-1)).toMatch(
      /its batch that ends with 50000 has more than 67108864 characters/,
    );
    expect(follower.batches).toEqual([]);
  },
);
