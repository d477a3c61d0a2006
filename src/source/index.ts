/** Snapshot sources, and the code that turns snapshots into events. */
export * from "./diff.ts";
export * from "./engine-source.ts";
export * from "./event-line.ts";
export * from "./events.ts";
export * from "./follow/index.ts";
export * from "./poller.ts";
export * from "./snapshot-source.ts";
export type * from "./upstream/upstream-reports.ts";
export * from "./upstream/upstream-source.ts";
export * from "./watch-freshness.ts";
