/** Events from feeds, and the advance of event time. */
export * from "./feed-facts.ts";
export * from "./market-event.ts";
