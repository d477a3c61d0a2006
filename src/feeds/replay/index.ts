export { replay } from "./replay.ts";
export { ReplayFeed } from "./replay-feed.ts";
