/* Runs the gateway with a snapshot that does not change, to measure its idle connections. */

import { createConfig } from "../../../../src/app/config/config.ts";
import { startGateway } from "../../../../src/app/serve.ts";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import type { SnapshotSource } from "../../../../src/gateway/source/index.ts";
import { SAMPLE_SNAPSHOT } from "../../../support/world/samples.ts";
import { serveHeld } from "./memory-control.ts";

const at = "2026-11-21T08:00:00.000Z";
let polled = false;
const source: SnapshotSource = {
  info: {
    name: "bench",
    origin: "simulated",
    facts: { trades: true, liquidity: true, listings: true, profiles: true },
  },
  async poll(signal) {
    if (polled) await systemClock.sleep(3_600_000, signal);
    polled = true;
    return { observedAtMs: Date.parse(at), snapshot: SAMPLE_SNAPSHOT };
  },
  freshness: () => ({ state: "live", reason: "", observed_at: at, last_success_at: at, data_age_ms: 0 }),
};
const many = 1_000_000;
const config = createConfig({
  port: 0,
  logLevel: "warn",
  maxSockets: many,
  maxSocketsPerIp: many,
  anonymousRequests: 1_000_000_000,
  anonymousStreams: 1_000_000_000,
});
const { url } = await startGateway(config, { source });
await serveHeld(Number(new URL(url).port));
