import { createConfig } from "../../../../src/app/config/config.ts";
import { startGateway } from "../../../../src/app/serve.ts";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { isoTime } from "../../../../src/base/lib/time/iso-time.ts";
import type { SnapshotSource } from "../../../../src/gateway/source/index.ts";

/** Starts the gateway on these snapshots, without a data directory. Returns its port. */
export async function serveSnapshots(poll: SnapshotSource["poll"]): Promise<number> {
  const source: SnapshotSource = {
    info: {
      name: "bench",
      origin: "simulated",
      facts: { trades: true, liquidity: true, listings: true, profiles: true },
    },
    poll,
    freshness: () => {
      const at = isoTime(systemClock.now());
      return { state: "live", reason: "", observed_at: at, last_success_at: at, data_age_ms: 0 };
    },
  };
  // A limit that is never reached, because counting is part of a request's cost.
  const settings = {
    port: 0,
    data: "none",
    trustProxy: "loopback",
    logLevel: "warn",
    anonymousRequests: 1_000_000_000,
    anonymousStreams: 1_000_000_000,
  } as const;
  const { url } = await startGateway(createConfig(settings), { source });
  return Number(new URL(url).port);
}
