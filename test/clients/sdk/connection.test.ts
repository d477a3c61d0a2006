import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  type ConnectionStatus,
  type ConnectOptions,
  connect,
  type Stream,
} from "../../../src/clients/sdk/index.ts";
import type { SocketLike } from "../../../src/clients/sdk/transport/platform.ts";
import { flareStarted, HELLO } from "../../app/cli/scripted-server.ts";

/*
 * Tests what the connection does with sockets and timers over several rounds, with fake sockets
 * and a clock that the test advances.
 */

/** A WebSocket whose messages and end come from the test. */
class FakeSocket implements SocketLike {
  onmessage: SocketLike["onmessage"] = null;
  onclose: SocketLike["onclose"] = null;
  onerror: SocketLike["onerror"] = null;
  isClosed = false;
  readonly after: string | null;

  constructor(url: string) {
    this.after = new URL(url).searchParams.get("after");
  }

  close(): void {
    this.isClosed = true;
  }

  async say(...messages: readonly object[]): Promise<void> {
    for (const message of messages) this.onmessage?.({ data: JSON.stringify(message) });
    await turn();
  }

  /** Sends hello and the answer; a client without a cursor starts at `abcd-0`. */
  async greet(hello: object = {}): Promise<void> {
    const snapshot = { flares: { pro: [] }, explanations: {} };
    const answer = {
      type: "subscribed",
      id: "url",
      channels: ["flares.pro"],
      cursor: this.after ?? "abcd-0",
    };
    const whole = this.after === null ? { resumed: "reset", snapshot } : { resumed: "full" };
    await this.say({ ...HELLO, ...hello }, { ...answer, ...whole });
  }

  async end(code: number): Promise<void> {
    this.onclose?.({ code, reason: "" });
    await turn();
  }
}

/** One stream with fake sockets and a fake clock. */
class World {
  readonly sockets: FakeSocket[] = [];
  readonly stream: Stream;
  readonly events: number[] = [];
  #nowMs = 0;
  #timers: { readonly atMs: number; readonly fn: () => void }[] = [];

  constructor(options: ConnectOptions = {}) {
    const { sockets } = this;
    class Socket extends FakeSocket {
      constructor(url: string) {
        super(url);
        sockets.push(this);
      }
    }
    this.stream = connect("http://127.0.0.1:9", {
      transport: "websocket",
      ...options,
      platform: {
        WebSocket: Socket,
        fetch: () => new Promise(() => {}),
        document: undefined,
        window: undefined,
        now: () => this.#nowMs,
        random: () => 0.5,
        after: (ms, fn) => {
          const timer = { atMs: this.#nowMs + ms, fn };
          this.#timers.push(timer);
          return () => {
            this.#timers = this.#timers.filter((other) => other !== timer);
          };
        },
        ...options.platform,
      },
    });
    this.stream.on("event", ({ seq }) => this.events.push(seq));
  }

  /** Number of running timers. */
  get running(): number {
    return this.#timers.length;
  }

  /** Indexes of the sockets that are not closed. */
  get open(): readonly number[] {
    return [...this.sockets.keys()].filter((at) => this.sockets[at]?.isClosed === false);
  }

  /** Advances the clock, and fires the timers that are due. */
  async pass(ms: number): Promise<void> {
    this.#nowMs += ms;
    for (;;) {
      const due = this.#timers.find(({ atMs }) => atMs <= this.#nowMs);
      if (!due) break;
      this.#timers = this.#timers.filter((other) => other !== due);
      due.fn();
      await turn();
    }
  }

  socket(at: number): FakeSocket {
    const found = this.sockets[at];
    if (!found) throw new Error(`connection ${at} was not opened; there are ${this.sockets.length}`);
    return found;
  }
}

async function startWorld(options?: ConnectOptions): Promise<World> {
  const world = new World(options);
  await turn();
  return world;
}

test("[W17] each silent connection is dropped at its limit, with growing waits between them; a stable connection resets the waits", async () => {
  const world = await startWorld({ firstMessageMs: 8_000 });
  for (const [at, waitMs] of [1_500, 2_500, 4_500].entries()) {
    await world.pass(7_999);
    expect(world.open).toEqual([at]);
    await world.pass(1);
    expect([world.open, world.stream.connection.state]).toEqual([[], "waiting"]);
    await world.pass(waitMs - 1);
    expect(world.sockets).toHaveLength(at + 1);
    await world.pass(1);
    expect(world.open).toEqual([at + 1]);
  }
  await world.socket(3).greet();
  await world.pass(1_000);
  await world.socket(3).say(flareStarted(1, "A"));
  await world.socket(3).end(4_100);
  await world.pass(1_499);
  expect(world.sockets).toHaveLength(4);
  await world.pass(1);
  expect(world.open).toEqual([4]);
});

test("[W17] after the answer every message restarts the limit of the connection's own hello; before it only the first does", async () => {
  const world = await startWorld();
  await world.socket(0).greet({ silence_limit_ms: 5_000 });
  for (let seq = 1; seq <= 3; seq += 1) {
    await world.pass(4_999);
    await world.socket(0).say(flareStarted(seq, "A"));
  }
  expect(world.open).toEqual([0]);
  await world.pass(5_000);
  // At once, because the connection was stable. The new one does not inherit its limit.
  expect([world.open, world.socket(1).after]).toEqual([[1], "abcd-3"]);
  // Before the answer, only the first message restarts the limit.
  await world.socket(1).say({ type: "weather" });
  await world.pass(20_000);
  await world.socket(1).say({ type: "weather" });
  await world.pass(14_999);
  expect(world.open).toEqual([1]);
  await world.pass(1);
  expect([world.open, world.stream.connection.state]).toEqual([[], "waiting"]);
});

test("[W31] a second goaway replaces the delay of the first, and the old connection delivers until the new one's first message", async () => {
  const world = await startWorld();
  await world.socket(0).greet();
  await world.pass(1_000);
  await world.socket(0).say(flareStarted(1, "A"));
  await world.socket(0).say({ type: "goaway", reason: "draining", reconnect_after_ms: 4_000 });
  await world.socket(0).say({ type: "goaway", reason: "draining", reconnect_after_ms: 9_000 });
  await world.pass(8_999);
  expect(world.sockets).toHaveLength(1);
  await world.pass(1);
  expect(world.open).toEqual([0, 1]);
  await world.socket(0).say(flareStarted(2, "A"));
  await world.socket(1).greet();
  expect([world.open, world.socket(1).after]).toEqual([[1], "abcd-1"]);
  await world.socket(1).say(flareStarted(2, "A"), flareStarted(3, "A"));
  expect(world.events).toEqual([1, 2, 3]);
});

test("[L3] if the old connection ends before the new one answers, only the old one ends", async () => {
  const world = await startWorld();
  await world.socket(0).greet();
  await world.pass(1_000);
  await world.socket(0).say(flareStarted(1, "A"));
  await world.socket(0).say({ type: "goaway", reason: "draining", reconnect_after_ms: 0 });
  await world.pass(0);
  expect(world.open).toEqual([0, 1]);
  await world.socket(0).end(4_200);
  expect([world.sockets.length, world.stream.connection.state]).toEqual([2, "connecting"]);
  await world.socket(1).greet();
  await world.socket(1).say(flareStarted(2, "A"));
  expect([world.events, world.stream.connection.state]).toEqual([[1, 2], "live"]);
});

test("a gap makes the stream reconnect from its cursor, with growing waits while the gap persists", async () => {
  const world = await startWorld();
  await world.socket(0).greet();
  await world.socket(0).say(flareStarted(1, "A"));
  for (const [at, waitMs] of [1_500, 2_500, 4_500].entries()) {
    await world.socket(at).say(flareStarted(9, "B", 7));
    expect(world.stream.connection).toMatchObject({
      state: "waiting",
      reason: "an event before abcd-9 is missing",
    });
    await world.pass(waitMs - 1);
    expect(world.sockets).toHaveLength(at + 1);
    await world.pass(1);
    expect(world.socket(at + 1).after).toBe("abcd-1");
    await world.socket(at + 1).greet();
  }
  expect(world.events).toEqual([1]);
});

test("[F3] [W14] if the server is behind the cursor, the stream retries with that cursor until the server has caught up", async () => {
  const world = await startWorld({ after: "abcd-6" });
  const resets: unknown[] = [];
  world.stream.on("reset", (reset) => resets.push(reset));
  for (const [at, waitMs] of [1_500, 2_500].entries()) {
    const lost = { reason: "ahead", events: null };
    await world.socket(at).say(HELLO, { type: "subscribed", cursor: "abcd-4", resumed: "reset", lost });
    expect(world.stream.connection).toMatchObject({
      state: "waiting",
      reason: "the server is at abcd-4, and this client at abcd-6",
    });
    await world.pass(waitMs);
    expect(world.socket(at + 1).after).toBe("abcd-6");
  }
  await world.socket(2).greet();
  await world.socket(2).say(flareStarted(6, "A"), flareStarted(7, "A"));
  expect([world.events, resets]).toEqual([[7], []]);
});

test("the connection status has the reason and the code with which the previous connection ended", async () => {
  const world = await startWorld();
  expect(world.stream.server).toBeUndefined();
  await world.socket(0).greet({ server: "flarewire/9" });
  expect([world.stream.connection.state, world.stream.connection.code]).toEqual(["live", undefined]);
  expect(world.stream.server).toMatchObject({ server: "flarewire/9", source: HELLO.source });
  const seen: ConnectionStatus[] = [];
  world.stream.on("connection", (status) => seen.push(status));
  await world.socket(0).end(4_200);
  await world.socket(1).end(4_100);
  await world.pass(2_500);
  world.stream.on("error", () => {});
  await world.socket(2).end(4_001);
  const transport = "websocket";
  expect(seen).toEqual([
    { state: "connecting", transport, reason: "close code 4200", code: 4_200 },
    { state: "waiting", transport, reason: "close code 4100", code: 4_100 },
    { state: "connecting", transport, reason: "close code 4100", code: 4_100 },
    { state: "closed", transport, reason: "close code 4001", code: 4_001 },
  ]);
});

test("a stream that is closed while it reconnects or waits leaves no timer, connection or abort listener", async () => {
  const program = new AbortController();
  const world = await startWorld({ signal: program.signal });
  await world.socket(0).greet();
  await world.socket(0).say({ type: "goaway", reason: "draining", reconnect_after_ms: 0 });
  await world.pass(0);
  expect([world.open, getEventListeners(program.signal, "abort").length]).toEqual([[0, 1], 1]);
  world.stream.close();
  await turn();
  expect([world.open, world.running]).toEqual([[], 0]);
  expect(getEventListeners(program.signal, "abort")).toEqual([]);
  const waiting = await startWorld();
  await waiting.socket(0).end(4_100);
  expect(waiting.running).toBe(1);
  waiting.stream.close();
  expect(waiting.running).toBe(0);
  await waiting.pass(3_600_000);
  expect(waiting.sockets).toHaveLength(1);
});

test("hiding a page again restarts the delay before the pause, and showing it reconnects at once", async () => {
  const page = Object.assign(new EventTarget(), { hidden: false });
  const world = await startWorld({ pauseHiddenAfterMs: 10_000, platform: { document: page } });
  const show = (isShown: boolean) => {
    page.hidden = !isShown;
    page.dispatchEvent(new Event("visibilitychange"));
  };
  await world.socket(0).greet({ silence_limit_ms: 1_000_000 });
  for (let round = 0; round < 2; round += 1) {
    show(false);
    await world.pass(9_999);
    show(true);
  }
  show(false);
  await world.pass(9_999);
  expect(world.stream.connection.state).toBe("live");
  await world.pass(1);
  expect(world.stream.connection).toMatchObject({ state: "paused", reason: "hidden" });
  expect([world.open, world.running]).toEqual([[], 0]);
  show(true);
  await turn();
  expect(world.open).toEqual([1]);
});

test("when the network returns, a live connection is replaced, and delivers until the new one's first message", async () => {
  const window = new EventTarget();
  const world = await startWorld({ platform: { window } });
  await world.socket(0).greet();
  await world.socket(0).say(flareStarted(1, "A"));
  for (let round = 0; round < 2; round += 1) {
    window.dispatchEvent(new Event("online"));
    await turn();
  }
  // The second `online` opens no further connection.
  expect(world.open).toEqual([0, 1]);
  await world.socket(0).say(flareStarted(2, "A"));
  await world.socket(1).greet();
  expect([world.open, world.socket(1).after]).toEqual([[1], "abcd-1"]);
  await world.socket(1).say(flareStarted(2, "A"), flareStarted(3, "A"));
  expect(world.events).toEqual([1, 2, 3]);
});

test("when the network returns, a waiting stream connects at once, and a second `online` opens nothing", async () => {
  const window = new EventTarget();
  const world = await startWorld({ platform: { window } });
  await world.socket(0).end(4_100);
  expect(world.stream.connection.state).toBe("waiting");
  for (let round = 0; round < 2; round += 1) window.dispatchEvent(new Event("online"));
  await turn();
  expect(world.open).toEqual([1]);
  await world.pass(3_000);
  expect(world.open).toEqual([1]);
});

test.for([
  [1, "a reader that is one event behind"],
  [2, "a reader that is two events behind"],
] as const)(
  "with a queue limit of %i, %s pauses the stream, which resumes once half is read",
  async ([limit]) => {
    const world = await startWorld({ queueLimit: limit });
    await world.socket(0).greet();
    const reader = world.stream[Symbol.asyncIterator]();
    // The first item is its position.
    expect((await reader.next()).value).toMatchObject({ name: "reset", reason: "started" });
    for (let seq = 1; seq <= limit; seq += 1) {
      expect(world.stream.connection.state).toBe("live");
      await world.socket(0).say(flareStarted(seq, "A"));
    }
    expect(world.stream.connection).toMatchObject({ state: "paused", reason: "slow" });
    expect((await reader.next()).value).toMatchObject({ seq: 1 });
    await turn();
    expect([world.open, world.socket(1).after]).toEqual([[1], `abcd-${limit}`]);
    await reader.return?.(undefined);
    world.stream.close();
  },
);

test("if a reader stops while the stream is paused for it, the stream resumes for its listeners", async () => {
  const world = await startWorld({ queueLimit: 1 });
  await world.socket(0).greet();
  for (const round of [0, 1]) {
    const reader = world.stream[Symbol.asyncIterator]();
    await reader.next();
    await world.socket(round).say(flareStarted(round + 1, "A"));
    expect(world.stream.connection).toMatchObject({ state: "paused", reason: "slow" });
    await reader.return?.(undefined);
    await turn();
    expect([world.open, world.socket(round + 1).after]).toEqual([[round + 1], `abcd-${round + 1}`]);
    await world.socket(round + 1).greet();
  }
  await world.socket(2).say(flareStarted(3, "A"), flareStarted(4, "A"));
  expect([world.events, world.stream.connection.state]).toEqual([[1, 2, 3, 4], "live"]);
});
