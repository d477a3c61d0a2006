import type { MarketEvent } from "../../market/index.ts";

/** How far behind the clock an event may be and still keep its own time, as the engine accepts. */
export const LATE_MS = 5_000;

/**
 * Returns the replacement of an event that is too late for its own time, dated `atMs`, the present.
 * Older trades and candles are dropped, because replaying an outage's trades as new would look like
 * a rush. A pool's liquidity and a token's profile still hold and are published. A pool listed
 * meanwhile is published with its liquidity but not as new, because its listing time cannot be
 * stated.
 */
export function settleLate(event: MarketEvent, atMs: number): MarketEvent | undefined {
  switch (event.kind) {
    case "trade":
    case "candle":
    case "window":
    case "clock":
      return undefined;
    case "profile":
    case "liquidity":
      return { ...event, at: atMs };
    case "listing": {
      const { group, pool, token, liquidity } = event;
      return { kind: "liquidity", at: atMs, group, pool, token, usd: liquidity, cause: "add" };
    }
  }
}
