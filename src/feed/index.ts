/** Where market events come from. One port, `Feed`; here recordings, replayed at any speed. */
export type { Feed } from "./feed.ts";
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
