import type { MarketEvent } from "../../market/index.ts";

/** How far behind the clock an event may be and still keep its own time, as the engine accepts. */
export const LATE_MS = 5_000;

/**
 * Returns the replacement of an event that is too late for its own time, dated `atMs`, the present;
 * `undefined` to drop it. Trades and candles become past ones and listings keep their time, because
 * an outage's events, replayed as new, would look like a rush. A pool's liquidity and a token's
 * profile still hold. An aggregator's reports are dropped.
 */
export function settleLate(event: MarketEvent, atMs: number): MarketEvent | undefined {
  switch (event.kind) {
    case "trade":
      return { ...event, at: atMs, tradedAt: event.tradedAt ?? event.at };
    case "window":
    case "clock":
      return undefined;
    case "candle":
    case "profile":
    case "observed":
    case "liquidity":
      return { ...event, at: atMs };
    case "listing":
      return { ...event, at: atMs, listedAt: event.listedAt ?? event.at };
  }
}
