export * from "./diff.ts";
export * from "./events.ts";
export type { Feed, FeedPart, Filling, ServiceKeys, ServiceReport, StageLag } from "./feed.ts";
export * from "./opened-source.ts";
export * from "./poller.ts";
export type { Poll, SnapshotSource } from "./snapshot-source.ts";
export * from "./watch-freshness.ts";
