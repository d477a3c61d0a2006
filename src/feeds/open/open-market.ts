import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import { notifyLog } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { HOUR_MS } from "../../base/lib/time/time.ts";
import type { GatewaySettings } from "../../gateway/settings/index.ts";
import {
  AGGREGATED,
  createAggregatorFeed,
  createBinance,
  createChainFeed,
  createExchangeFeed,
  createGate,
  createKucoin,
  type Feed,
  mergeFeeds,
  NETWORKS,
  type Network,
  type NetworkName,
  type Venue,
} from "../index.ts";
import type { FeedSettings } from "../settings/index.ts";

export type MarketConfig = FeedSettings & Pick<GatewaySettings, "data" | "staleAfterMs">;

interface MarketParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Event time after which the feeds resume; `undefined` if they start with the warm-up. */
  readonly afterMs: number | undefined;
}

export function openLiveMarket(
  config: MarketConfig,
  feed: "exchange" | "chain" | "live",
  parts: MarketParts,
): Feed {
  switch (feed) {
    case "exchange":
      return openExchanges(config, parts);
    case "chain":
      return openChain(config, config.chain, config.rpc, parts);
    case "live":
      return openAll(config, parts);
  }
}

export function chainsOf(
  config: MarketConfig,
): readonly { readonly network: Network; readonly urls: readonly string[] }[] {
  const named = chainNames(config).map((name) => ({ network: NETWORKS[name], urls: rpcOf(config, name) }));
  return named.map(({ network, urls }) => ({ network, urls: urls.length > 0 ? urls : network.rpcUrls }));
}

export function venuesOf(config: MarketConfig, clock: Clock): readonly Venue[] {
  const { feed, live, binanceUrl, binanceStreamUrl, kucoinUrl, gateUrl, gateStreamUrl } = config;
  if (feed !== "exchange" && !(feed === "live" && live.includes("exchange"))) return [];
  const open = {
    binance: () => createBinance({ url: binanceUrl, streamUrl: binanceStreamUrl }),
    kucoin: () => createKucoin({ url: kucoinUrl, connectId: randomUUID }),
    gate: () => createGate({ url: gateUrl, streamUrl: gateStreamUrl, now: () => clock.now() }),
  };
  return [...new Set(config.exchanges)].map((name) => open[name]());
}

function openAll(config: MarketConfig, parts: MarketParts): Feed {
  const { clock, logger } = parts;
  const members = [...new Set(config.live)].map((name) => {
    if (name === "exchange") return { name, feed: openExchanges(config, parts) };
    if (name === "aggregator") return { name, feed: openAggregator(config, parts) };
    return { name, feed: openChain(config, name, rpcOf(config, name), parts) };
  });
  const { staleAfterMs } = config;
  return mergeFeeds({ name: "live", parts: members, clock, staleAfterMs, notify: notifyLog(logger) });
}

function openExchanges(config: MarketConfig, { clock, logger, afterMs }: MarketParts): Feed {
  return createExchangeFeed({
    venues: venuesOf(config, clock),
    quotes: config.exchangeQuotes,
    minVolume: config.exchangeVolume,
    ...(config.feed === "live"
      ? { warmupMs: exchangeWarmupOf(config.warmupMs), startsAtPresent: true }
      : { warmupMs: config.warmupMs }),
    ...(afterMs === undefined ? {} : { resumeAfterMs: afterMs }),
    clock,
    notify: notifyLog(logger),
  });
}

/**
 * Returns how far back the feed `live` reads the exchanges, in ms: not at all without a warm-up;
 * otherwise at least the hour that the charts show. Reading costs one request per market.
 */
function exchangeWarmupOf(warmupMs: number): number {
  return warmupMs === 0 ? 0 : Math.max(warmupMs, HOUR_MS);
}

/** Opens the aggregator. It reports listings only of chains without a feed of their own. */
function openAggregator(config: MarketConfig, { clock, logger }: MarketParts): Feed {
  const followed = chainNames(config).map((name): string => NETWORKS[name].group);
  return createAggregatorFeed({
    url: config.geckoterminalUrl,
    networks: AGGREGATED,
    listings: new Set(AGGREGATED.flatMap(({ group }) => (followed.includes(group) ? [] : [group]))),
    clock,
    notify: notifyLog(logger),
  });
}

function openChain(
  config: MarketConfig,
  name: NetworkName,
  urls: readonly string[],
  { clock, logger, afterMs }: MarketParts,
): Feed {
  return createChainFeed({
    network: NETWORKS[name],
    urls,
    ...(config.data === "none" ? {} : { factsFile: join(config.data, `chain-${name}.sqlite`) }),
    clock,
    backfillMs: config.warmupMs,
    ...(afterMs === undefined ? {} : { resumeAfterMs: afterMs }),
    notify: notifyLog(logger, { chain: name }),
  });
}

function chainNames({ feed, chain, live }: MarketConfig): readonly NetworkName[] {
  if (feed === "chain") return [chain];
  if (feed !== "live") return [];
  return [...new Set(live)].flatMap((name) => (name === "exchange" || name === "aggregator" ? [] : [name]));
}

function rpcOf(config: MarketConfig, name: NetworkName): readonly string[] {
  if (config.feed === "chain") return config.rpc;
  return config[`${name}Rpc`];
}
