/*
 * Runs the gateway's fan-out through worker processes, whose number is the first argument. The
 * second is the number of clients. The control port sets the batches and publishes them.
 */
import type { ChildProcess } from "node:child_process";
import { readdirSync } from "node:fs";
import { createConfig } from "../../../../src/app/config/config.ts";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { EMPTY_SNAPSHOT, type Freshness, type SourceInfo } from "../../../../src/base/protocol/index.ts";
import { Refusals } from "../../../../src/gateway/http/index.ts";
import { Head, type HeadBatch, Hub } from "../../../../src/gateway/hub/index.ts";
import { TicketTable } from "../../../../src/gateway/keys/index.ts";
import { MemoryLog } from "../../../../src/gateway/log/index.ts";
import { encodeLists } from "../../../../src/gateway/persistence/restored-state.ts";
import { createLogger } from "../../../../src/gateway/start/create-logger.ts";
import { spawnWorker } from "../../../../src/gateway/start-workers.ts";
import { WorkersFrontend } from "../../../../src/workers/index.ts";
import { openControl, sayReady } from "../harness/control-port.ts";
import { uniformEvents } from "../harness/uniform-events.ts";

const INFO: SourceInfo = {
  name: "bench",
  origin: "simulated",
  facts: { trades: true, liquidity: true, listings: true, profiles: true },
};
const observed_at = "2026-11-21T08:00:00.000Z";
const FRESH: Freshness = {
  ...{ state: "live", reason: "", observed_at, last_success_at: observed_at, data_age_ms: 0 },
};
const workers = Number(process.argv[2]);
const clients = Number(process.argv[3]);
const room = {
  maxSockets: 100_000,
  maxSocketsPerIp: 100_000,
  anonymousRequests: 1_000_000_000,
  anonymousStreams: 1_000_000_000,
};
const config = createConfig({ ...room, port: 0, logLevel: "error", workers });

const clock = systemClock;
const log = new MemoryLog({ clock });
const head = new Head({ log, initial: { snapshot: EMPTY_SNAPSHOT, observedAtMs: 1 } });
const hub = new Hub({
  ...{ log, head, clock, serverName: "flarewire/bench" },
  info: () => INFO,
  freshness: () => FRESH,
  onError: (error) => {
    throw error;
  },
});
const children: ChildProcess[] = [];
const front = new WorkersFrontend({
  ...{ ...config, config, head, hub, log, clock, workers },
  spawn: () => {
    const child = spawnWorker();
    children.push(child);
    return child;
  },
  report: () => ({ info: INFO, freshness: FRESH }),
  encode: encodeLists,
  tickets: new TicketTable(clock),
  used: () => {},
  keys: () => undefined,
  rates: { countElsewhere: () => {}, spent: [] },
  metrics: undefined,
  refusals: new Refusals(clock),
  logger: createLogger("error"),
});
const url = new URL(await front.listen());
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

let batch: HeadBatch = { events: [] };
const control = await openControl({
  async publish() {
    await head.publish(batch);
    return batch.events.length * clients;
  },
  configure(order) {
    const { events, bytes } = order as { events: number; bytes: number };
    batch = { events: uniformEvents(events, bytes) };
    const pids = children.map(({ pid }) => pid ?? 0);
    return { pids, descriptors: pids.map((pid) => readdirSync(`/proc/${pid}/fd`).length) };
  },
});
sayReady(Number(url.port), control);
