export { OutputError } from "./output-error.ts";
export { record } from "./record.ts";
export { recordFeed } from "./record-feed.ts";
export { Recorder } from "./recorder.ts";
