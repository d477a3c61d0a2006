import { expect } from "vitest";
import { followStream } from "../../src/cli/tail/stream-follower.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { test } from "../support/still-running.ts";
import { HELLO, startScriptedServer } from "./scripted-server.ts";

const SUBSCRIBED = { type: "subscribed", cursor: "test1-0", resumed: "full" };
const event = (seq: number, prev = seq - 1) => ({
  ...{ type: "event", cursor: `test1-${seq}`, seq, prev, name: "source-status", channel: "status" },
  ...{ observed_at: "2026-01-01T00:00:00.000Z", data: {} },
});

/** A follower of a server that the test leads. */
async function follow(onEvent: (seq: number) => Promise<void> | undefined = () => undefined) {
  const server = await startScriptedServer();
  const clock = new ManualClock();
  const stop = new AbortController();
  const seqs: number[] = [];
  const notices: string[] = [];
  const following = followStream({
    ...{ url: new URL(server.url.replace("http", "ws")), clock, signal: stop.signal, random: () => 0.5 },
    onEvent: ({ seq }) => {
      seqs.push(seq);
      return onEvent(seq);
    },
    onSubscribed: () => {},
    onNotice: (message) => notices.push(message),
  });
  /** The next connection, behind its hello; `frames` are sent on it. */
  const connected = async (...frames: readonly object[]) => {
    const { socket } = await server.next();
    const say = (frame: object) => socket.send(JSON.stringify(frame));
    for (const frame of [HELLO, ...frames]) say(frame);
    return { socket, say };
  };
  /** How long the follower waits before it comes again, once its connection was ended by `end`. */
  const waitAfter = async (end: () => void) => {
    const slept = clock.nextSleep();
    end();
    await slept;
    const waitMs = clock.slept.at(-1) ?? 0;
    clock.advance(waitMs);
    return waitMs;
  };
  const finish = async () => {
    stop.abort();
    expect(await following).toBe(0);
    await server[Symbol.asyncDispose]();
  };
  return { clock, seqs, notices, connected, waitAfter, finish };
}

test("the waits before tail comes again grow with each connection that brings nothing, and begin anew after one that did", async () => {
  const { connected, waitAfter, finish } = await follow();
  const waits: number[] = [];
  for (const frames of [[SUBSCRIBED], [], [], [], [SUBSCRIBED], [], []]) {
    const { socket } = await connected(...frames);
    waits.push(await waitAfter(() => socket.close(1011)));
  }
  expect(waits).toEqual([1_500, 1_500, 2_000, 3_000, 5_000, 1_500, 2_000]);
  await connected();
  await finish();
});

test("a receiver that does not read for minutes ends no connection, and silence is measured from when it reads again", async () => {
  let read: () => void = () => {};
  const { clock, seqs, connected, waitAfter, finish } = await follow(
    () =>
      new Promise((resolve) => {
        read = resolve;
      }),
  );
  const { say } = await connected(SUBSCRIBED, event(1));
  for (let seq = 1; seq <= 2; seq += 1) {
    await expect.poll(() => seqs).toHaveLength(seq);
    clock.advance(600_000);
    say(event(seq + 1));
    read();
  }
  await expect.poll(() => seqs).toEqual([1, 2, 3]);
  read();
  // One round trip, behind which it reads again.
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(HELLO.silence_limit_ms - 1_000);
  expect(clock.slept).toEqual([]);
  expect(await waitAfter(() => clock.advance(2_000))).toBe(0);
  await connected();
  await finish();
});
