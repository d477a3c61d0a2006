/** A simulated market: a feed with a seed and with ground truth about its own events. */
export type { Label, LabelKind } from "./market/episodes/label.ts";
export { createSimulatedMarket } from "./market/simulated-market.ts";
export { createSimulatedFeed, type SimulatedFeedOptions } from "./simulated-feed.ts";
