/** The simulated market: a feed with a seed that knows the truth about what it reports. */
export {
  LABEL_KINDS,
  type Label,
  type LabelKind,
  type LabelSink,
  PUMP_SHAPES,
  type PumpShape,
} from "./market/episodes/label.ts";
export {
  createSimulatedMarket,
  type SimulatedMarket,
  type SimulatedMarketOptions,
} from "./market/simulated-market.ts";
export {
  createSimulatedFeed,
  type SimulatedFeed,
  type SimulatedFeedOptions,
  type SimulatedResume,
} from "./simulated-feed.ts";
