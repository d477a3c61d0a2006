/**
 * Events from feeds: trades, candles, listings, liquidity, profiles, and the advance of event time.
 */
export * from "./feed-facts.ts";
export * from "./market-event.ts";
