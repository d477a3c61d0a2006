/*
 * Runs the server of the bench `slow` in its own process. Publishes and reports its memory as the
 * parent orders.
 */
import type { AddressInfo, Socket } from "node:net";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import {
  EMPTY_SNAPSHOT,
  type EventBody,
  type Freshness,
  type SourceInfo,
} from "../../../src/base/protocol/index.ts";
import { ConnectionLimiter, ConnectionRegistry, createHttpServer } from "../../../src/gateway/http/index.ts";
import { registerWebSocket } from "../../../src/gateway/http/stream/websocket-route.ts";
import { StreamWebSocket } from "../../../src/gateway/http/stream/websocket-socket.ts";
import { Head, Hub } from "../../../src/gateway/hub/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";

/** Time between two batches. */
const EVERY_MS = 50;
/**
 * Number of batches at the start. Slow readers begin before them, so more data waits than the
 * kernel buffers for a connection.
 */
const BACKLOG = 2_400;
/** Text of a batch's events, except the one with the time of the append. */
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

/** Memory and sessions of the server at the moment of the request. */
export interface Held {
  readonly sessions: number;
  /** Maximum bytes that wait in this process for one connection, and the sum of all connections. */
  readonly maxWaiting: number;
  readonly waiting: number;
  readonly logBytes: number;
  readonly rss: number;
  readonly head: number;
  /** Sent closes by code. A client that does not read never receives them. */
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
  register: ({ app: scope }) =>
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

/** The time is the machine's monotonic clock, which all processes share. */
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
