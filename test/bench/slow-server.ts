/*
 * The server of the bench of slow readers, in a process of its own: told by its parent when to
 * publish, it tells what it holds.
 */
import type { AddressInfo, Socket } from "node:net";
import { ConnectionLimiter, ConnectionRegistry, createHttpServer } from "../../src/http/index.ts";
import { registerWebSocket } from "../../src/http/stream/websocket-route.ts";
import { StreamWebSocket } from "../../src/http/stream/websocket-socket.ts";
import { Head, Hub } from "../../src/hub/index.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { MemoryLog } from "../../src/log/index.ts";
import { EMPTY_SNAPSHOT, type EventBody, type Freshness, type SourceInfo } from "../../src/protocol/index.ts";

/** Time between two batches. */
const EVERY_MS = 50;
/**
 * Batches that are there at the start: slow readers begin before them, and so with more than the
 * kernel takes for one.
 */
const BACKLOG = 2_400;
/** Text of the events of a batch beside the one that says when it was appended. */
const PADDING = "x".repeat(1_000);
const LOG_BYTES = 64 * 2 ** 20;

const INFO: SourceInfo = {
  name: "bench",
  origin: "simulated",
  facts: { trades: true, liquidity: true, listings: true, profiles: true },
};
const observed_at = "2026-11-21T08:00:00.000Z";
const FRESH: Freshness = {
  state: "live",
  reason: "",
  observed_at,
  last_success_at: observed_at,
  data_age_ms: 0,
};

/** What the server holds, at the moment of asking. */
export interface Held {
  readonly sessions: number;
  /** Bytes that wait in this process for one connection, at most, and for all. */
  readonly maxWaiting: number;
  readonly waiting: number;
  readonly logBytes: number;
  readonly rss: number;
  readonly head: number;
  /** Closes by code, as they were sent: who does not read never hears of it. */
  readonly closes: Readonly<Record<string, number>>;
}

function event(reason: string): EventBody {
  return { name: "source-status", channel: "status", observed_at, data: { state: "live", reason } };
}

const log = new MemoryLog({ clock: systemClock, maxBytes: LOG_BYTES });
const head = new Head({ log, initial: { snapshot: EMPTY_SNAPSHOT, observedAtMs: 1 } });
const hub = new Hub({
  ...{ log, head, clock: systemClock, serverName: "flarewire/bench" },
  info: () => INFO,
  freshness: () => FRESH,
  onError: (error) => {
    throw error;
  },
});
const app = await createHttpServer({
  ...{ head, clock: systemClock },
  freshness: () => FRESH,
  info: () => INFO,
  register: (scope) =>
    registerWebSocket(scope, {
      ...{ hub, clock: systemClock },
      registry: new ConnectionRegistry(new ConnectionLimiter(100_000, 100_000)),
    }),
});
const sockets = new Set<Socket>();
app.server.on("connection", (socket) => {
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
});
await app.listen({ host: "127.0.0.1", port: 0 });

const closes: Record<string, number> = {};
const { close } = StreamWebSocket.prototype;
StreamWebSocket.prototype.close = function (code, reason) {
  if (this.readyState === StreamWebSocket.OPEN) closes[`${code}`] = (closes[`${code}`] ?? 0) + 1;
  close.call(this, code, reason);
};
let publishing: NodeJS.Timeout | undefined;
let most = 0;

/** The time is the machine's monotonic one, which all its processes share. */
async function publish(): Promise<void> {
  await head.publish({ events: [event(`at ${process.hrtime.bigint()}`), event(PADDING), event(PADDING)] });
  for (const { writableLength } of sockets) most = Math.max(most, writableLength);
}

function held(): Held {
  const waiting = [...sockets].reduce((total, { writableLength }) => total + writableLength, 0);
  return {
    ...{ sessions: hub.size, waiting, maxWaiting: most, logBytes: log.bytes },
    ...{ rss: process.memoryUsage.rss(), head: head.cursor.seq, closes },
  };
}

for (let batch = 0; batch < BACKLOG; batch += 1) await publish();
process.on("message", (order: "start" | "stop" | "held") => {
  if (order === "start") publishing ??= setInterval(() => void publish(), EVERY_MS);
  if (order === "stop") {
    clearInterval(publishing);
    publishing = undefined;
  }
  if (order === "held") process.send?.(held());
});
process.on("disconnect", () => process.exit(0));
process.send?.({ port: (app.server.address() as AddressInfo).port, epoch: log.epoch });
