export { record } from "./record.ts";
export { recordFeed } from "./record-feed.ts";
export { Recorder } from "./recorder.ts";
