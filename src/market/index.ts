/** What feeds report: trades, candles, listings, liquidity, profiles, and the passing of event time. */
export * from "./feed-facts.ts";
export * from "./market-event.ts";
