import type { MarketEvent } from "../../../src/base/market/index.ts";
import type { Label } from "../../../src/feeds/simulated/market/episodes/label.ts";
import { createSimulatedMarket } from "../../../src/feeds/simulated/market/simulated-market.ts";

/** Midnight of a Monday, UTC. */
export const MIDNIGHT = Date.UTC(2026, 0, 5);
export const MINUTE = 60_000;
export const HOUR = 3_600_000;

interface Run {
  readonly seed?: number | string;
  readonly beginAtMs?: number;
  readonly tokens?: number;
  readonly hours: number;
  /** Event time of each step. */
  readonly pieceMs?: number;
}

/** Runs the market and passes each event to `onEvent`. Returns the labels. */
export function simulate(run: Run, onEvent: (event: MarketEvent) => void): readonly Label[] {
  const labels: Label[] = [];
  const { seed = 1, beginAtMs = MIDNIGHT, tokens = 120, pieceMs = MINUTE } = run;
  const market = createSimulatedMarket({ seed, beginAtMs, tokens, onLabel: (label) => labels.push(label) });
  const endAtMs = beginAtMs + run.hours * HOUR;
  const piece: MarketEvent[] = [];
  for (let at = beginAtMs; at < endAtMs; ) {
    at = Math.min(endAtMs, at + pieceMs);
    market.advanceTo(at, piece);
    for (const event of piece) onEvent(event);
    piece.length = 0;
  }
  return labels;
}

/** Returns all events of a short run. */
export function eventsOf(run: Run): readonly MarketEvent[] {
  const events: MarketEvent[] = [];
  simulate(run, (event) => events.push(event));
  return events;
}
