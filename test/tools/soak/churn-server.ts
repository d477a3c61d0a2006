/*
 * The HTTP part of a gateway, whose clock the parent process advances, and which counts objects of
 * connections: see churn.ts. Needs --expose-gc and a parent process.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { queryObjects } from "node:v8";
import { WebSocket } from "ws";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import type { Freshness, SourceInfo } from "../../../src/base/protocol/index.ts";
import { KeyAccessPolicy } from "../../../src/gateway/http/access/key-access-policy.ts";
import {
  ConnectionLimiter,
  ConnectionRegistry,
  createHttpServer,
  registerEvents,
} from "../../../src/gateway/http/index.ts";
import { registerWebSocket } from "../../../src/gateway/http/stream/websocket-route.ts";
import { Group } from "../../../src/gateway/hub/group.ts";
import { Head, Hub, Session } from "../../../src/gateway/hub/index.ts";
import { type Key, knownKeys, mintSecret, TicketTable } from "../../../src/gateway/keys/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import { TestMarket } from "../../gateway/hub/test-market.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

/**
 * Classes whose instances hold the rest of a connection. Counting one of them in the heap takes
 * half a second.
 */
const KINDS = { Session, Group, Socket };

/** Remaining objects and resources of connections, by name. */
export type Left = Readonly<Record<string, number>>;

/** The state after a second of the gateway's time. */
export interface Second {
  readonly cursor: string;
  readonly size: number;
  /** One of the issued tickets. The others stay unused. */
  readonly ticket: string;
}

/**
 * A request of the parent process. `heap`: bytes in use after a full collection, in V8's heap and
 * in Buffers. `left`: {@link Left}. `second`: advances the clock by a second and returns
 * {@link Second}.
 */
export type ChurnOrder = "heap" | "left" | "second";

/**
 * Steps of the market before the first connection, so that the log and the cache of compressed
 * events have reached their full size.
 */
const INITIAL_STEPS = 20_000;
const TICKETS_A_SECOND = 2;

/** Number of sockets of standard input and output. */
const ownSockets = queryObjects(Socket, { format: "count" });
let step = 0;
const clock = new ManualClock();
const log = new MemoryLog({ clock, minCount: 100, maxAgeMs: 10_000, lastingAgeMs: 10_000 });
const market = new TestMarket();
const head = new Head({ log, initial: { snapshot: market.snapshot, observedAtMs: 1 } });
const at = "2026-11-21T08:00:00.000Z";
const fresh: Freshness = { state: "live", reason: "", observed_at: at, last_success_at: at, data_age_ms: 0 };
const info: SourceInfo = {
  name: "churn",
  origin: "simulated",
  facts: { trades: true, liquidity: true, listings: true, profiles: true },
};
const facts = { freshness: () => fresh, info: () => info };
const onError = (error: unknown) => {
  throw error;
};
const hub = new Hub({ log, head, clock, ...facts, serverName: "flarewire/churn", onError });
const { id, digest } = mintSecret("fw");
const key: Key = { id, sha256: digest.toString("hex"), plan: "pro" };
const tickets = new TicketTable(clock);
const ring = knownKeys([key]);
const policy = new KeyAccessPolicy({ ring, clock, anonymous: "free", tickets });
const registry = new ConnectionRegistry(new ConnectionLimiter(5_000, 1_000), (text) => tickets.spend(text));
const app = await createHttpServer({
  ...{ head, policy, ...facts },
  clock: systemClock,
  settings: { trustProxy: ["loopback"] },
  register: async ({ app: scope }) => {
    const shared = { hub, clock, registry, policy };
    await registerWebSocket(scope, shared);
    registerEvents(scope, { ...shared, ...facts, log, head });
  },
});
await app.listen({ host: "127.0.0.1", port: 0, backlog: 1_024 });

async function heap(): Promise<number> {
  const { gc } = globalThis;
  if (!gc) throw new Error("run the server with --expose-gc");
  for (let round = 0; round < 3; round += 1) {
    await turn();
    gc();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function left(): Left {
  const counts: Record<string, number> = {
    limiter: registry.limiter.taken,
    sessions: hub.size,
    behind: hub.behind,
  };
  for (const resource of process.getActiveResourcesInfo()) counts[resource] = (counts[resource] ?? 0) + 1;
  for (const [name, kind] of Object.entries(KINDS)) counts[name] = queryObjects(kind, { format: "count" });
  return { ...counts, Socket: (counts.Socket ?? 0) - ownSockets };
}

async function second(): Promise<Second> {
  await publish(1);
  clock.advance(1_000);
  const issued = Array.from({ length: TICKETS_A_SECOND }, () => tickets.issue(id).text);
  const { epoch, seq } = head.cursor;
  return { cursor: `${epoch}-${seq}`, size: hub.size, ticket: issued[0] ?? "" };
}

/** Publishes steps that list and unlist a token in turn, so that the market keeps its size. */
async function publish(steps: number): Promise<void> {
  const some = Array.from({ length: steps }, () => (step++ % 2 ? ("unlist" as const) : ("list" as const)));
  await head.publish({ observedAtMs: 1_000, ...market.poll(some) });
}

await fill();
/** Publishes the initial steps to a client that receives them compressed. */
async function fill(): Promise<void> {
  const { port } = app.server.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}/api/v1/stream?channels=*`);
  await once(client, "open");
  client.on("message", () => {});
  while (step < INITIAL_STEPS) {
    await publish(100);
    await turn();
  }
  client.close();
  await once(client, "close");
}

const ORDERS = { heap, left, second } as const satisfies Record<ChurnOrder, () => unknown>;
process.on("message", async (order: ChurnOrder) => {
  process.send?.(await ORDERS[order]());
});
process.once("disconnect", () => process.exit());
process.send?.((app.server.address() as AddressInfo).port);
