/**
 * A simulated market: its seed determines the events, and its labels are the ground truth about
 * them.
 */
export type { Label, LabelKind } from "./market/episodes/label.ts";
export { createSimulatedMarket } from "./market/simulated-market.ts";
export { simulated } from "./simulated.ts";
export { createSimulatedFeed, type SimulatedFeedOptions } from "./simulated-feed.ts";
