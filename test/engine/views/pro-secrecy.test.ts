import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import type { NestedFlare, Snapshot } from "../../../src/base/model/index.ts";
import { snapshotOfPlan } from "../../../src/base/protocol/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/settings.ts";
import { createSimulatedFeed } from "../../../src/feeds/simulated/simulated-feed.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { HOUR, MINUTE, START } from "../trend-kit.ts";

async function simulatedMarket(hours: number): Promise<readonly MarketEvent[]> {
  const feed = createSimulatedFeed({
    startAtMs: START,
    warmupMs: hours * HOUR,
    durationMs: 0,
    ...(IS_SOAK ? {} : { tokens: 80 }),
    speed: Number.POSITIVE_INFINITY,
    clock: systemClock,
  });
  const events: MarketEvent[] = [];
  for await (const event of feed.events(new AbortController().signal)) events.push(event);
  return events;
}

function nestedFlares({ charts, leaderboards }: Snapshot): readonly NestedFlare[] {
  return [...charts.bsc.map(({ flare }) => flare), ...leaderboards.bsc.map(({ object }) => object)];
}

test("[K2] the free plan sees no sign of a flare before it is in free or finished: charts are the same as without it", async () => {
  // Low thresholds, so that an hour has enough flares, also of tokens in the chart.
  const eager = {
    ...DEFAULT_SETTINGS,
    tradeStartScore: 1,
    candleStartScore: 1,
    startActivity: 0,
    reversedShare: 9,
  };
  const engine = new TrendEngine({ settings: eager });
  // Judges alike, so that it learns alike, but no flare starts.
  const never = { ...eager, tradeStartTicks: 1e9, candleStartTicks: 1e9, secondsTrades: 1e9 };
  const unaware = new TrendEngine({ settings: never });
  const published = new Set<string>();
  const secrets = new Set<string>();
  let compared = 0;
  for (const event of await simulatedMarket(1)) {
    engine.accept(event);
    unaware.accept(event);
    if (event.kind !== "clock") continue;
    const snapshot = engine.snapshot();
    const { free, pro, finished_trending } = snapshot.flares;
    for (const { id, token } of [...free, ...finished_trending]) published.add(id).add(token.address);
    const hidden = pro.filter(({ id }) => !published.has(id));
    for (const { id } of hidden) secrets.add(id);
    if (event.at % MINUTE !== 0) continue;
    const shown = snapshotOfPlan(snapshot, "free");
    const text = JSON.stringify(shown);
    for (const { id } of hidden) expect(text).not.toContain(id);
    const others = new Map(nestedFlares(unaware.snapshot()).map((flare) => [flare.token.address, flare]));
    const first = new Set(hidden.map(({ token }) => token.address).filter((token) => !published.has(token)));
    for (const flare of nestedFlares(shown)) {
      if (!first.has(flare.token.address)) continue;
      compared += 1;
      expect(flare).toEqual(others.get(flare.token.address));
    }
  }
  expect(secrets.size).toBeGreaterThan(5);
  expect(compared).toBeGreaterThan(5);
});
