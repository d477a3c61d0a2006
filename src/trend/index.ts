/** The trend engine: market events in, snapshots of what trends out. */
export type { EngineCheckpoint } from "./checkpoint.ts";
export { TrendEngine, type TrendEngineOptions } from "./engine.ts";
export { neverFlaredId } from "./ids.ts";
export type { TrendInspection } from "./inspection.ts";
export { REJECT_REASONS, type RejectReason } from "./rejection.ts";
export { DEFAULT_SETTINGS, type DetectorSettings } from "./settings.ts";
