import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { type ConnectionStatus, type ConnectOptions, connect, type Stream } from "../../src/client/index.ts";
import type { SocketLike } from "../../src/client/transport/platform.ts";
import { flareStarted, HELLO } from "../cli/scripted-server.ts";

/*
 * What the driver of the connection does with lines and timers, over several rounds, in a world
 * without a network and with a clock that the test moves.
 */

/** A WebSocket whose server is the test. */
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

  /** Greets, and answers the subscription; a client without a cursor begins at `abcd-0`. */
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

/** A world for one stream. */
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
        ...{ WebSocket: Socket, fetch: () => new Promise(() => {}), document: undefined, window: undefined },
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

  /** Timers that run. */
  get running(): number {
    return this.#timers.length;
  }

  /** Those that are not closed, by their number from 0. */
  get open(): readonly number[] {
    return [...this.sockets.keys()].filter((at) => this.sockets[at]?.isClosed === false);
  }

  /** Moves the time, and does what falls due. */
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

async function begun(options?: ConnectOptions): Promise<World> {
  const world = new World(options);
  await turn();
  return world;
}

test("[W17] each mute connection is left after its time, the later ones after growing waits, and one that lasts starts over", async () => {
  const world = await begun({ firstMessageMs: 8_000 });
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

test("[W17] every message renews a connection that has its answer, by the limit of its own greeting", async () => {
  const world = await begun();
  await world.socket(0).greet({ silence_limit_ms: 5_000 });
  for (let seq = 1; seq <= 3; seq += 1) {
    await world.pass(4_999);
    await world.socket(0).say(flareStarted(seq, "A"));
  }
  expect(world.open).toEqual([0]);
  await world.pass(5_000);
  // At once, as it had lasted; of the limit of the one before nothing is left.
  expect([world.open, world.socket(1).after]).toEqual([[1], "abcd-3"]);
  // Chatter without an answer renews nothing.
  await world.socket(1).say({ type: "weather" });
  await world.pass(20_000);
  await world.socket(1).say({ type: "weather" });
  await world.pass(14_999);
  expect(world.open).toEqual([1]);
  await world.pass(1);
  expect([world.open, world.stream.connection.state]).toEqual([[], "waiting"]);
});

test("[W31] the last goaway counts: an earlier slot is forgotten, and the old connection brings events until the new one speaks", async () => {
  const world = await begun();
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

test("[L3] an old connection that ends while the new one is awaited ends nothing else", async () => {
  const world = await begun();
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

test("a hole makes it connect again from its cursor, with growing waits while it stays, and what does not fit the lists without one", async () => {
  const world = await begun();
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

test("[F3] [W14] a server that is behind the cursor is asked again with that cursor, after growing waits, until it has caught up", async () => {
  const world = await begun({ after: "abcd-6" });
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

test("the state of the connection says why the one before ended, and with which code, until it is live again", async () => {
  const world = await begun();
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
  await world.socket(2).end(4_003);
  const transport = "websocket";
  expect(seen).toEqual([
    { state: "connecting", transport, reason: "close code 4200", code: 4_200 },
    { state: "waiting", transport, reason: "close code 4100", code: 4_100 },
    { state: "connecting", transport, reason: "close code 4100", code: 4_100 },
    { state: "closed", transport, reason: "close code 4003", code: 4_003 },
  ]);
});

test("a stream that is closed leaves no timer, no connection and no listener behind, whatever it waited for", async () => {
  const program = new AbortController();
  const world = await begun({ signal: program.signal });
  await world.socket(0).greet();
  await world.socket(0).say({ type: "goaway", reason: "draining", reconnect_after_ms: 0 });
  await world.pass(0);
  expect([world.open, getEventListeners(program.signal, "abort").length]).toEqual([[0, 1], 1]);
  world.stream.close();
  await turn();
  expect([world.open, world.running]).toEqual([[], 0]);
  expect(getEventListeners(program.signal, "abort")).toEqual([]);
  const waiting = await begun();
  await waiting.socket(0).end(4_100);
  expect(waiting.running).toBe(1);
  waiting.stream.close();
  expect(waiting.running).toBe(0);
  await waiting.pass(3_600_000);
  expect(waiting.sockets).toHaveLength(1);
});

test("a page that is hidden again before its time is up starts the time over, and one that is visible connects at once", async () => {
  const page = Object.assign(new EventTarget(), { hidden: false });
  const world = await begun({ pauseHiddenAfterMs: 10_000, platform: { document: page } });
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

test("a live connection is replaced when the network comes back, and brings events until the new one speaks", async () => {
  const window = new EventTarget();
  const world = await begun({ platform: { window } });
  await world.socket(0).greet();
  await world.socket(0).say(flareStarted(1, "A"));
  for (let round = 0; round < 2; round += 1) {
    window.dispatchEvent(new Event("online"));
    await turn();
  }
  // Of those that have said nothing yet there is one.
  expect(world.open).toEqual([0, 1]);
  await world.socket(0).say(flareStarted(2, "A"));
  await world.socket(1).greet();
  expect([world.open, world.socket(1).after]).toEqual([[1], "abcd-1"]);
  await world.socket(1).say(flareStarted(2, "A"), flareStarted(3, "A"));
  expect(world.events).toEqual([1, 2, 3]);
});

test("the network that comes back is used at once, and twice in a row opens one connection", async () => {
  const window = new EventTarget();
  const world = await begun({ platform: { window } });
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
] as const)("with a queue of %i %s pauses the stream, which continues once half is read", async ([limit]) => {
  const world = await begun({ queueLimit: limit });
  await world.socket(0).greet();
  const reader = world.stream[Symbol.asyncIterator]();
  // The first thing that it receives is where it stands.
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
});

test("if a reader stops while the stream is paused for it, the listeners continue", async () => {
  const world = await begun({ queueLimit: 1 });
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
