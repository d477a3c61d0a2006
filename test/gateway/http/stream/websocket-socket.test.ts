import { Duplex } from "node:stream";
import { expect } from "vitest";
import { CLOSE_CODES } from "../../../../src/base/protocol/index.ts";
import { WebSocketPings } from "../../../../src/gateway/http/stream/websocket-pings.ts";
import { StreamWebSocket, WebSocketSocket } from "../../../../src/gateway/http/stream/websocket-socket.ts";
import { websocketFraming } from "../../../../src/gateway/hub/index.ts";
import { test as base } from "../../../support/time/still-running.ts";
import { createHubUnderTest } from "../../hub/hub-fixture.ts";

const FULL = 1_024;
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A connection whose other side reads bytes only when the test allows it. */
class RawUnderTest extends Duplex {
  readonly written: Buffer[] = [];
  #done: (() => void) | undefined;

  constructor() {
    super({ highWaterMark: FULL, read() {} });
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.written.push(chunk);
    this.#done = done;
  }

  /** Reads everything that is written, and everything written in response. */
  async takeAll(): Promise<void> {
    while (this.#done) {
      const done = this.#done;
      this.#done = undefined;
      done();
      await settled();
    }
  }

  get text(): string {
    return Buffer.concat(this.written).toString("latin1");
  }
}

/** A connection that follows a market's listings. Fails if a timer remains after the test. */
const test = base.extend<{ sut: ReturnType<typeof connected> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  sut: async ({}, use) => {
    const sut = connected();
    await use(sut);
    sut.raw.destroy();
    await settled();
    sut.pings.stop();
    // A session that the test left open closes after its grace period, on the hub's clock.
    const passing = setInterval(() => sut.clock.advance(500), 5);
    await sut.hub.close();
    clearInterval(passing);
  },
});

function connected() {
  const sut = createHubUnderTest();
  const raw = new RawUnderTest();
  const ws: StreamWebSocket = Reflect.construct(StreamWebSocket, [null, undefined, { autoPong: false }]);
  // `ws` does this after a handshake, but its types do not include it.
  const limits = { allowSynchronousEvents: true, maxPayload: 4_096, skipUTF8Validation: false };
  Reflect.apply(Reflect.get(ws, "setSocket"), ws, [raw, Buffer.alloc(0), limits]);
  const socket = new WebSocketSocket(ws, raw);
  const session = sut.hub.connect(socket, websocketFraming, { channels: ["newest.bsc"] });
  const pings = new WebSocketPings(sut.clock);
  socket.attach(session, pings);
  return { ...sut, raw, ws, socket, session, pings };
}

const closeFrame = (reason: keyof typeof CLOSE_CODES) => {
  const { code } = CLOSE_CODES[reason];
  const text = Buffer.from([0x88, 2 + reason.length, code >> 8, code & 0xff]).toString("latin1");
  return `${text}${reason}`;
};

test("[L5] a connection that is full repeatedly waits with one drain listener, regardless of the number of writes", async ({
  sut,
}) => {
  const { raw, socket } = sut;
  await raw.takeAll();
  for (let round = 0; round < 3; round += 1) {
    for (let n = 0; n < 5; n += 1) expect(socket.write(Buffer.alloc(FULL, "x"))).toBe(false);
    expect(raw.listenerCount("drain")).toBe(1);
    await raw.takeAll();
    expect(raw.listenerCount("drain")).toBe(0);
  }
});

test("[W24] while a client reads nothing, 60 of its endless pings get a pong, and later only the newest, repeatedly", async ({
  sut,
}) => {
  const { raw, socket } = sut;
  await raw.takeAll();
  for (let round = 0; round < 2; round += 1) {
    raw.written.length = 0;
    for (let n = 0; n < 5_000; n += 1) socket.pinged(Buffer.from(`ping ${round} ${n};`));
    expect(raw.writableLength).toBeLessThan(60 * 127);
    await raw.takeAll();
    const answered = [...raw.text.matchAll(/ping \d (\d+);/g)].map(([, n]) => Number(n));
    expect(answered).toEqual([...Array.from({ length: 60 }, (_, n) => n), 4_999]);
  }
});

test.for(["the server's", "the client's"])(
  "[L5] after a close frame, %s, no event is written, although the connection is open",
  async (by, { sut }) => {
    const { raw, socket, session, publish } = sut;
    await raw.takeAll();
    if (by === "the server's") socket.close("draining");
    else raw.push(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]));
    await settled();
    const before = raw.writableLength;
    expect(raw.text.length).toBeGreaterThan(0);
    session.goAway(1_000, 1_000);
    await publish("list");
    expect(raw.writableLength).toBe(before);
  },
);

test("[W24] a connection without a pong is closed as dead, but not while it has unread data", async ({
  sut,
}) => {
  const { raw, ws, socket, session, publish } = sut;
  while (!session.isBehind) await publish("list", "list", "list");
  socket.lost();
  expect(ws.readyState).toBe(ws.OPEN);
  await raw.takeAll();
  await settled();
  expect(session.isBehind).toBe(false);
  socket.lost();
  await raw.takeAll();
  expect(raw.text.endsWith(closeFrame("heartbeat-lost"))).toBe(true);
});

test("[W24] a closed connection is neither pinged nor closed again for a missing pong", async ({ sut }) => {
  const { raw, socket, clock } = sut;
  raw.destroy();
  await settled();
  clock.advance(60_000);
  expect(socket.awaitsPong).toBe(false);
});
