/** Where market events come from. One port, `Feed`: a simulated market, recordings replayed at any speed; and what records any of them. */
export type { Feed } from "./feed.ts";
export { MANIFEST_FILE } from "./record/manifest.ts";
export { recordFeed } from "./record/record-feed.ts";
export { createRecorder, type Recorder, RecordingError } from "./record/recorder.ts";
export { addressOf } from "./replay/pair-book.ts";
export {
  createReplayFeed,
  type ReplayFeed,
  type ReplayOptions,
  type ReplayProgress,
  type ReplayResume,
} from "./replay/replay-feed.ts";
export { SKIP_REASONS, type SkipReason } from "./replay/skips.ts";
export {
  createSimulatedFeed,
  type SimulatedFeed,
  type SimulatedFeedOptions,
  type SimulatedResume,
} from "./simulated/index.ts";
