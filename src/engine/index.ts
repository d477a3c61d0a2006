/** The trend engine, which turns market events into snapshots. */

export { createTrend } from "./detect/hysteresis.ts";
export { logMultiple } from "./detect/measures/candle-detector.ts";
export { createSuspects } from "./detect/measures/suspects.ts";
export { TrendEngine } from "./engine.ts";
export type { FlareStart, OddsBook } from "./odds-book.ts";
export { DEFAULT_SETTINGS, type DetectorSettings } from "./settings.ts";
export { createRing, recordInRing } from "./state/bucket-ring.ts";
export {
  compactToken,
  type EngineState,
  STATE_VERSION,
  type StateWatcher,
} from "./state/engine-state.ts";
export { neverFlaredId } from "./state/ids.ts";
export { REJECT_REASONS, type RejectReason } from "./state/rejection.ts";
