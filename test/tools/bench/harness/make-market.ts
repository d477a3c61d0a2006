import { MINUTE_MS } from "../../../../src/base/lib/time/time.ts";
import type { MarketEvent } from "../../../../src/base/market/index.ts";
import type { EventBody, Snapshot } from "../../../../src/base/protocol/index.ts";
import { TrendEngine } from "../../../../src/engine/index.ts";
import { createSimulatedMarket } from "../../../../src/feeds/simulated/market/simulated-market.ts";
import { toEvents } from "../../../../src/gateway/source/index.ts";
import type { MarketFile } from "./market-file.ts";

const BEGIN_MS = Date.UTC(2026, 0, 1);
/** Established tokens, as many as `serve` simulates by default. */
const TOKENS = 480;

/**
 * Generates this many minutes of the market, always the same ones, after a warm-up of equal length,
 * with the real engine and the real comparison.
 */
export function makeMarket(minutes: number): MarketFile {
  const market = createSimulatedMarket({ seed: 1, beginAtMs: BEGIN_MS, tokens: TOKENS });
  const engine = new TrendEngine({
    facts: { trades: true, liquidity: true, listings: true, profiles: true },
  });
  const batches: EventBody[][] = [];
  const beginMs = BEGIN_MS + minutes * MINUTE_MS;
  let base: Snapshot | undefined;
  let before = engine.snapshot();
  for (let at = BEGIN_MS + MINUTE_MS; at <= beginMs + minutes * MINUTE_MS; at += MINUTE_MS) {
    const events: MarketEvent[] = [];
    market.advanceTo(at, events);
    for (const event of events) {
      engine.accept(event);
      if (event.kind !== "clock" || engine.nextChangeAtMs > engine.clockMs) continue;
      const after = engine.snapshot();
      if (engine.clockMs >= beginMs) {
        const batch = base ? toEvents(before, after, engine.clockMs) : [];
        if (batch.length > 0) batches.push(batch);
        base ??= after;
      }
      before = after;
    }
  }
  if (!base) throw new Error("the market has no moment at which anything changes");
  return { base, batches: [...batches, toEvents(before, base, engine.clockMs)] };
}
