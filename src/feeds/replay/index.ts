export { replay } from "./replay.ts";
export { ReplayFeed, type ReplayProgress } from "./replay-feed.ts";
