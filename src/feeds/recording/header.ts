import { z } from "zod";
import { FeedFacts, Origin } from "../../base/market/index.ts";

/** Version of the recording format. */
export const RECORDING_VERSION = 1;

/**
 * The optional first line. States which facts the recorded feed supports, even if no event has
 * them.
 */
export const RecordingHeader = z.object({
  kind: z.literal("recording"),
  version: z.literal(RECORDING_VERSION),
  /** Origin of the recorded feed. In a replay, all except `simulated` become `recorded`. */
  origin: Origin.optional(),
  facts: FeedFacts,
  /**
   * The recording contains every `clock` of the feed. If absent, a replay adds one at each second.
   */
  clocks: z.literal("recorded").optional(),
});
export type RecordingHeader = z.infer<typeof RecordingHeader>;
