/** Events from feeds, and the advance of event time. */
export * from "./market-event.ts";
