/*
 * Runs the gateway on the simulated market, with half an hour of stored minutes, all extensions and
 * web push. The argument is the data directory. Says that it is ready once the market is at the
 * present.
 */

import { createConfig } from "../../../../src/app/config/config.ts";
import { engineOptions } from "../../../../src/app/engine-options.ts";
import { EngineSource } from "../../../../src/app/engine-source.ts";
import { startGateway } from "../../../../src/app/serve.ts";
import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { HOUR_MS, MINUTE_MS } from "../../../../src/base/lib/time/time.ts";
import { TrendEngine } from "../../../../src/engine/index.ts";
import { createSimulatedFeed } from "../../../../src/feeds/simulated/simulated-feed.ts";
import type { SnapshotSource } from "../../../../src/gateway/source/index.ts";
import { sayReady } from "../harness/control-port.ts";

/** Event time that the engine needs before it detects flares as usual. */
const WARMUP_MS = 4 * HOUR_MS;
/** Event time after it whose minutes are stored. */
const STORED_MS = 30 * MINUTE_MS;
/** The market is at the present when its latest second is not older. */
const PRESENT_MS = 5_000;

const config = createConfig({
  ...{ port: 0, data: process.argv[2] ?? "none", logLevel: "error" },
  ...{ push: "mailto:bench@example.org", trustProxy: "loopback" },
});
const startAtMs = systemClock.now();
const feed = createSimulatedFeed({ startAtMs, warmupMs: WARMUP_MS + STORED_MS, clock: systemClock });
const engine = new TrendEngine(engineOptions(feed, config.refreshMs));
const market = new EngineSource({ feed, engine, clock: systemClock, warmupMs: WARMUP_MS });
const present = Promise.withResolvers<void>();
const source: SnapshotSource = {
  info: market.info,
  freshness: () => market.freshness(),
  poll: async (signal) => {
    const poll = await market.poll(signal);
    if (poll && poll.observedAtMs > systemClock.now() - PRESENT_MS) present.resolve();
    return poll;
  },
};
const { url } = await startGateway(config, { source });
await present.promise;
sayReady(Number(new URL(url).port), 0);
