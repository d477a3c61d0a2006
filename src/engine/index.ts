/** The trend engine, which turns market events into snapshots. */

export { TrendEngine } from "./engine.ts";
export { DEFAULT_SETTINGS, type DetectorSettings } from "./settings.ts";
export {
  compactToken,
  type EngineState,
  READABLE_VERSIONS,
  STATE_VERSION,
  type StateWatcher,
  upgradeState,
} from "./state/engine-state.ts";
export { neverFlaredId } from "./state/ids.ts";
export { REJECT_REASONS, type RejectReason } from "./state/rejection.ts";
