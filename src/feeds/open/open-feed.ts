import type { Logger } from "pino";
import { type Config, ENRICHER_KEY_VARIABLES } from "../../app/config/config.ts";
import { notifyLog } from "../../base/lib/notify.ts";
import type { Probe } from "../../base/lib/probe.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { HOUR_MS } from "../../base/lib/time/time.ts";
import { FlarewireError } from "../../base/protocol/index.ts";
import type { RestoredState } from "../../gateway/persistence/restored-state.ts";
import {
  aggregatorProbes,
  createEnrichers,
  createSimulatedFeed,
  type EnricherKeys,
  type EnricherName,
  endpointProbes,
  enricherProbes,
  enrichFeed,
  type Feed,
  hostProbes,
  MAX_FILL_MS,
  ReplayFeed,
  venueProbes,
} from "../index.ts";
import { chainsOf, type MarketConfig, openLiveMarket, venuesOf } from "./open-market.ts";
import type { ResumedMarket } from "./resume-simulated.ts";

export type FeedConfig = MarketConfig &
  Pick<Config, "data" | "seed" | "speed" | "file" | "profiles" | "group" | "loop">;

interface FeedParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly enricherKeys?: EnricherKeys | undefined;
}

interface OpenFeed {
  readonly feed: Feed;
  /** Event time at which a simulated market began. */
  readonly beganAtMs?: number;
}

/**
 * Opens the feed, which resumes from `restored` or `resume` if given, with the enrichers. Throws
 * `invalid-setting` if an enricher lacks its key.
 */
export function openFeed(
  config: FeedConfig,
  parts: FeedParts,
  restored?: RestoredState,
  resume?: ResumedMarket,
): OpenFeed {
  const opened = openMarket(config, parts, restored, resume);
  if (config.enrich.length === 0) return opened;
  const { clock, logger, enricherKeys: keys = {} } = parts;
  if (config.enrich.includes("etherscan") && keys.etherscan === undefined) {
    const message = `enrich names etherscan, which needs a key: set ${ENRICHER_KEY_VARIABLES.etherscan} in the environment, or remove etherscan from enrich`;
    throw new FlarewireError("invalid-setting", message);
  }
  const enrichers = createEnrichers({
    names: config.enrich,
    urls: enricherUrls(config),
    keys,
    directory: config.data === "none" ? undefined : config.data,
    clock,
    notify: notifyLog(logger),
  });
  return { ...opened, feed: enrichFeed(opened.feed, enrichers, clock) };
}

/** Returns a probe for each service that the config's feed and enrichers need. */
export function probesOf(config: MarketConfig, clock: Clock, keys: EnricherKeys): readonly Probe[] {
  const chains = chainsOf(config);
  const isAggregated = config.feed === "live" && config.live.includes("aggregator");
  const groups = isAggregated ? [] : chains.map(({ network }) => network.group);
  const endpoints = chains.flatMap(({ network, urls }) =>
    [...new Set(urls)].map((url, index) => ({ network, url, number: index + 1, clock })),
  );
  return [
    ...endpoints.flatMap(endpointProbes),
    ...chains.flatMap(({ network, urls }) => hostProbes(network, urls)),
    ...venuesOf(config, clock).flatMap((venue) => venueProbes(venue, clock)),
    ...(isAggregated ? aggregatorProbes(config.geckoterminalUrl, clock) : []),
    ...enricherProbes({ names: config.enrich, urls: enricherUrls(config), keys, clock, groups }),
  ];
}

function enricherUrls(config: MarketConfig): Readonly<Record<EnricherName, string>> {
  const { coingeckoUrl, sourcifyUrl, etherscanUrl, dexscreenerUrl } = config;
  return {
    coingecko: coingeckoUrl,
    sourcify: sourcifyUrl,
    etherscan: etherscanUrl,
    dexscreener: dexscreenerUrl,
  };
}

function openMarket(
  config: FeedConfig,
  { clock, logger }: FeedParts,
  restored: RestoredState | undefined,
  resume: ResumedMarket | undefined,
): OpenFeed {
  if (config.feed === "simulated") {
    const { seed, warmupMs, speed } = config;
    const feed = createSimulatedFeed({
      seed,
      speed,
      clock,
      ...(resume ?? { startAtMs: clock.now(), warmupMs }),
    });
    return { feed, beganAtMs: feed.beginAtMs };
  }
  const before = restored?.engine;
  if (config.feed !== "replay") {
    const afterMs = before?.afterMs;
    return { feed: openLiveMarket(config, config.feed, { clock, logger, afterMs }) };
  }
  const feed = new ReplayFeed({
    path: config.file,
    ...(config.profiles === undefined ? {} : { profilesPath: config.profiles }),
    ...(config.group === undefined ? {} : { group: config.group }),
    speed: config.speed,
    loop: config.loop,
    warmupMs: config.warmupMs,
    ...(restored && before
      ? { resume: { afterMs: before.afterMs, catchUpToMs: restored.observedAtMs } }
      : {}),
    clock,
    onSkipped: (reason, line, detail) =>
      logger.warn({ reason, line, detail }, "skipped a line of the recording"),
  });
  return { feed };
}

/** After a longer gap, the stored state has only expired baselines. */
const MAX_CHAIN_GAP_MS = 6 * HOUR_MS;

/** Returns why a live market cannot resume; `undefined` if the gap can be fetched. */
export function feedGap(config: MarketConfig, restored: RestoredState, nowMs: number): string | undefined {
  const afterMs = restored.engine?.afterMs ?? 0;
  const stored = `the stored state is from ${new Date(afterMs).toISOString()}`;
  if (chainsOf(config).length > 0 && nowMs - afterMs > MAX_CHAIN_GAP_MS)
    return `${stored}, and chains cannot resume after more than ${MAX_CHAIN_GAP_MS / HOUR_MS} hours`;
  const isAsked = config.feed === "exchange" || config.feed === "live";
  if (isAsked && nowMs - afterMs > MAX_FILL_MS)
    return `${stored}, and this market cannot resume after more than ${MAX_FILL_MS / HOUR_MS} hours`;
  return undefined;
}
