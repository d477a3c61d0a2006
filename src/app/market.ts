import type { Probe } from "../base/lib/probe.ts";
import type { Clock } from "../base/lib/time/clock.ts";
import type { FeedContext, LayerContext, Market, OpenMarket, ResumedMarket } from "../feeds/index.ts";
import type { ServiceKeys } from "../gateway/source/index.ts";
import type { Config } from "./config/config.ts";
import { FEEDS } from "./feeds.ts";

/** What every event passes, in this order. */
export const LAYERS = FEEDS.flatMap(({ layer }) => layer ?? []);

/** Returns the market that the setting `feed` names. */
export function marketOf({ feed }: Pick<Config, "feed">): Market {
  const market = FEEDS.find(({ name }) => name === feed)?.market;
  if (!market) throw new Error(`no market is named ${feed}`);
  return market;
}

/** A market with all layers, from which an engine can read. */
interface LayeredMarket extends OpenMarket {
  /** Starts what the layers write. Call it once everything else is open. */
  begin(): void;
  close(): Promise<void>;
}

/** Opens the market that the config names, with its layers. It resumes from `resume`, if given. */
export function openMarket(
  config: Config,
  { clock, logger, keys, lag }: Pick<LayerContext, "clock" | "logger" | "keys" | "lag">,
  resume?: ResumedMarket,
): LayeredMarket {
  const { data, staleAfterMs } = config;
  const context: FeedContext = {
    clock,
    logger,
    staleAfterMs,
    lag,
    directory: data === "none" ? undefined : data,
  };
  const { feed: bare, ...rest } = marketOf(config).open(config, context, resume);
  let feed = bare;
  const opened = LAYERS.map((layer) => {
    const one = layer.open(feed, config, { ...context, keys });
    feed = one.feed;
    return one;
  });
  return {
    ...rest,
    feed,
    begin() {
      for (const { begin } of opened) begin?.();
    },
    async close() {
      for (const { close } of opened.toReversed()) await close?.();
    },
  };
}

/** Returns a test of each service that the config's market and its layers use. */
export function checksOf(config: Config, clock: Clock, keys: ServiceKeys): readonly Probe[] {
  const market = marketOf(config);
  const groups = market.groups(config);
  return [
    ...(market.checks?.(config, clock) ?? []),
    ...LAYERS.flatMap((layer) => layer.checks?.(config, { clock, keys, groups }) ?? []),
  ];
}
