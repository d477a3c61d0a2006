/** The simulated market: a feed with a seed that knows the truth about what it reports. */
export type { Label, LabelKind } from "./market/episodes/label.ts";
export { createSimulatedMarket } from "./market/simulated-market.ts";
export { createSimulatedFeed, type SimulatedFeedOptions } from "./simulated-feed.ts";
