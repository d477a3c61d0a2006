/*
 * Runs the gateway's fan-out in its own process: the real hub behind the real route. The control
 * port sets the batches and publishes them.
 */
import type { AddressInfo } from "node:net";
import { LISTEN_BACKLOG } from "../../../../src/app/server/open-server.ts";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import {
  applyEvent,
  EMPTY_SNAPSHOT,
  type EventBody,
  type Freshness,
  type Snapshot,
  type SourceInfo,
} from "../../../../src/base/protocol/index.ts";
import {
  ConnectionLimiter,
  ConnectionRegistry,
  createHttpServer,
} from "../../../../src/gateway/http/index.ts";
import { registerWebSocket } from "../../../../src/gateway/http/stream/websocket-route.ts";
import { Head, type HeadBatch, Hub } from "../../../../src/gateway/hub/index.ts";
import { MemoryLog } from "../../../../src/gateway/log/index.ts";
import { openControl, sayReady } from "./control-port.ts";
import { readMarket } from "./market-file.ts";
import { type Load, uniformEvents } from "./uniform-events.ts";

const INFO: SourceInfo = {
  name: "bench",
  origin: "simulated",
  facts: { trades: true, liquidity: true, listings: true, profiles: true },
};
const observed_at = "2026-11-21T08:00:00.000Z";
const FRESH: Freshness = {
  ...{ state: "live", reason: "", observed_at, last_success_at: observed_at, data_age_ms: 0 },
};
const MAX_SOCKETS = 100_000;
const registry = new ConnectionRegistry(new ConnectionLimiter(MAX_SOCKETS, MAX_SOCKETS));

const log = new MemoryLog({ clock: systemClock });
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
  register: ({ app: scope }) => registerWebSocket(scope, { hub, registry, clock: systemClock }),
});
await app.listen({ host: "127.0.0.1", port: 0, backlog: LISTEN_BACKLOG });

let batches: readonly HeadBatch[] = [];
let next = 0;
function apply(snapshot: Snapshot, events: readonly EventBody[]): Snapshot {
  // A view of all channels is a snapshot.
  return events.reduce((view, event) => applyEvent(view, event) as Snapshot, snapshot);
}

/** Reads the market and computes the state after each batch, as the poller would. */
async function playMarket(path: string): Promise<void> {
  const market = readMarket(path);
  let snapshot = market.base;
  await head.publish({ snapshot, events: [] });
  batches = market.batches.map((events) => {
    snapshot = apply(snapshot, events);
    return { snapshot, events };
  });
}

const control = await openControl({
  async publish() {
    const before = hub.counters.deliveries;
    await head.publish(batches[next++ % batches.length] ?? { events: [] });
    return hub.counters.deliveries - before;
  },
  async configure(order) {
    const load = order as Load;
    next = 0;
    if ("market" in load) await playMarket(load.market);
    else batches = [{ events: uniformEvents(load.events, load.bytes) }];
    return { sessions: hub.size, behind: hub.behind };
  },
});
sayReady((app.server.address() as AddressInfo).port, control);
