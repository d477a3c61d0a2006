export type { Feed, ServiceReport } from "../gateway/source/feed.ts";
export { createAggregatorFeed } from "./aggregator/aggregator-feed.ts";
export { aggregatorProbes } from "./aggregator/aggregator-probes.ts";
export { AGGREGATED } from "./aggregator/gecko-terminal.ts";
export { createChainFeed } from "./chain/chain-feed.ts";
export type { Network } from "./chain/network.ts";
export { NETWORKS, type NetworkName } from "./chain/networks.ts";
export { endpointProbes, hostProbes } from "./chain/probe/endpoint-probes.ts";
export { createEnrichers, type EnricherKeys } from "./enrich/create-enrichers.ts";
export { enrichFeed } from "./enrich/enrich-feed.ts";
export { ENRICHERS, type EnricherName } from "./enrich/enricher.ts";
export { enricherProbes } from "./enrich/enricher-probes.ts";
export { createBinance } from "./exchange/binance.ts";
export { createExchangeFeed, MAX_FILL_MS } from "./exchange/exchange-feed.ts";
export { createGate } from "./exchange/gate.ts";
export { createKucoin } from "./exchange/kucoin.ts";
export { VENUES, type Venue } from "./exchange/venue.ts";
export { venueProbes } from "./exchange/venue-probes.ts";
export { mergeFeeds } from "./merge/merge-feeds.ts";
export { recordFeed } from "./record/record-feed.ts";
export { Recorder, RecordingError } from "./record/recorder.ts";
export { MANIFEST_FILE } from "./recording/manifest.ts";
export { addressOf } from "./replay/pair-book.ts";
export { SKIP_REASONS, type SkipReason } from "./replay/read/skips.ts";
export {
  ReplayFeed,
  type ReplayOptions,
  type ReplayProgress,
  type ReplayResume,
} from "./replay/replay-feed.ts";
export {
  createSimulatedFeed,
  type SimulatedFeedOptions,
} from "./simulated/index.ts";
export { UpstreamSource } from "./upstream/upstream-source.ts";
