/** What every kind of feed is. Each folder has the public face of one. */
export type {
  FeedContext,
  FeedKind,
  IdleSettings,
  LayerContext,
  Market,
  OpenMarket,
  OpenPolled,
  ResumedMarket,
} from "./feed-kind.ts";
export { HeadLag } from "./head-lag.ts";
export { marketSettings } from "./market-settings.ts";
export { OutputError } from "./output-error.ts";
export { requestJson } from "./service/request-json.ts";
export { StickyThreshold } from "./service/sticky-threshold.ts";
