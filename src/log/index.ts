/** The event log: the port, and the adapters behind it. */
export * from "./event-log.ts";
export * from "./memory-log.ts";
