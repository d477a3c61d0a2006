import type { MarketEvent } from "../../market/index.ts";

/** How far behind the clock an event may come and still count as of its own time: what the engine takes. */
export const LATE_MS = 5_000;

/**
 * What is told of an event that comes too late for its own time, at `atMs`, which is now. A trade or a candle is not: told as of now, those of an outage would
 * look like a crowd. What lies in a pool, and what is known of a token, holds on and is told. A pool that was listed meanwhile is told with what lies in it, but
 * is not new any more: when it was listed could not be said.
 */
export function settleLate(event: MarketEvent, atMs: number): MarketEvent | undefined {
  switch (event.kind) {
    case "trade":
    case "candle":
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
