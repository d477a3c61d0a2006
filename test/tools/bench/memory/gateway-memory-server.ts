/*
 * Runs the gateway with a snapshot that does not change, to measure its connections. The argument
 * is the number of running flares. Default: as in the samples.
 */

import { createConfig } from "../../../../src/app/config/config.ts";
import { startGateway } from "../../../../src/app/serve.ts";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { DOCUMENTS } from "../../../../src/extensions/docs/site/documents.ts";
import type { SnapshotSource } from "../../../../src/gateway/source/index.ts";
import { SAMPLE_FLARE, SAMPLE_SNAPSHOT } from "../../../support/world/samples.ts";
import { serveHeld } from "./memory-control.ts";

const at = "2026-11-21T08:00:00.000Z";
const flares = Number(process.argv[2] ?? 0);
const snapshot = flares > 0 ? withFlares(flares) : SAMPLE_SNAPSHOT;
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
    return { observedAtMs: Date.parse(at), snapshot };
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
// Otherwise the server prepares its documents ten seconds after its start, and their 3 MB would
// count as memory of the connections.
for (const { path } of Object.values(DOCUMENTS)) await (await fetch(new URL(path, url))).arrayBuffer();
await serveHeld(Number(new URL(url).port));

function withFlares(count: number) {
  const pro = Array.from({ length: count }, (_, at) => ({
    ...SAMPLE_FLARE,
    id: `00000000-0000-5000-8000-${String(at).padStart(12, "0")}`,
  }));
  return { ...SAMPLE_SNAPSHOT, flares: { ...SAMPLE_SNAPSHOT.flares, pro } };
}
