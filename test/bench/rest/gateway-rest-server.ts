/* The gateway itself, as it is served, on a source whose snapshot of 20 kB changes each second. */

import { createConfig } from "../../../src/config/config.ts";
import { startGateway } from "../../../src/gateway/app.ts";
import { systemClock } from "../../../src/lib/time/clock.ts";
import { isoTime } from "../../../src/lib/time/iso-time.ts";
import type { SnapshotSource } from "../../../src/source/index.ts";
import { sayReady } from "../harness/control-port.ts";
import { snapshotOf } from "./snapshot.ts";

let step = 0;
const source: SnapshotSource = {
  info: {
    name: "bench",
    origin: "simulated",
    facts: { trades: true, liquidity: true, listings: true, profiles: true },
  },
  async poll(signal) {
    if (step > 0) await systemClock.sleep(1_000, signal);
    step += 1;
    return { observedAtMs: systemClock.now(), snapshot: snapshotOf(20_000, step) };
  },
  freshness: () => {
    const at = isoTime(systemClock.now());
    return { state: "live", reason: "", observed_at: at, last_success_at: at, data_age_ms: 0 };
  },
};
// A limit that is never reached: counting belongs to what a request costs.
const config = createConfig({ port: 0, logLevel: "warn", anonymousRequests: 1_000_000_000 });
const { url } = await startGateway(config, { source });
sayReady(Number(new URL(url).port), 0);
