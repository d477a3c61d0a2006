/** The event log: its interface, and the log in memory. */
export * from "./event-log.ts";
export * from "./memory-log.ts";
export { type RunStart, Runs, randomRun } from "./runs.ts";
