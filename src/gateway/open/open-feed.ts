import type { Logger } from "pino";
import { type Config, ETHERSCAN_KEY_VARIABLE } from "../../config/config.ts";
import {
  createEnrichers,
  createReplayFeed,
  createSimulatedFeed,
  type EnricherName,
  endpointProbes,
  enricherProbes,
  enrichFeed,
  type Feed,
  MAX_FILL_MS,
  type Probe,
  venueProbes,
} from "../../feed/index.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { HOUR_MS } from "../../lib/time/time.ts";
import { FlarewireError } from "../../protocol/index.ts";
import type { RestoredState } from "../persistence/restored-state.ts";
import { chainsOf, noticeTo, openLiveMarket, venuesOf } from "./open-market.ts";
import type { SimulatedPlace } from "./resume-simulated.ts";

/** What a feed is opened with. */
export interface FeedParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** What Etherscan is asked with. */
  readonly etherscanKey?: string | undefined;
}

/** A feed, and what has to be kept to go on with it. */
export interface OpenFeed {
  readonly feed: Feed;
  /** Event time at which its market began, where that is a simulated one. */
  readonly beganAtMs?: number;
}

/**
 * The feed that the config names, with the enrichers that it names; where there is something to go on from, it begins there. Throws FlarewireError
 * `invalid-setting` where an enricher needs a key and there is none.
 */
export function openFeed(
  config: Config,
  parts: FeedParts,
  restored?: RestoredState,
  place?: SimulatedPlace,
): OpenFeed {
  const opened = openMarket(config, parts, restored, place);
  if (config.enrich.length === 0) return opened;
  const { clock, logger, etherscanKey } = parts;
  if (config.enrich.includes("etherscan") && etherscanKey === undefined) {
    const message = `enrich names etherscan, which wants a key: set ${ETHERSCAN_KEY_VARIABLE} in the environment, or leave etherscan out`;
    throw new FlarewireError("invalid-setting", message);
  }
  const enrichers = createEnrichers({
    names: config.enrich,
    urls: enricherUrls(config),
    etherscanKey,
    directory: config.data === "none" ? undefined : config.data,
    clock,
    onNotice: noticeTo(logger),
  });
  return { ...opened, feed: enrichFeed({ feed: opened.feed, enrichers, clock }) };
}

/** Each thing that the config's feed and enrichers need of services of others. */
export function probesOf(config: Config, clock: Clock, etherscanKey: string | undefined): readonly Probe[] {
  const endpoints = chainsOf(config).flatMap(({ network, urls }) =>
    [...new Set(urls)].map((url, index) => ({ network, url, number: index + 1, clock })),
  );
  return [
    ...endpoints.flatMap(endpointProbes),
    ...venuesOf(config, clock).flatMap((venue) => venueProbes(venue, clock)),
    ...enricherProbes({ names: config.enrich, urls: enricherUrls(config), etherscanKey, clock }),
  ];
}

function enricherUrls(config: Config): Readonly<Record<EnricherName, string>> {
  const { coingeckoUrl, sourcifyUrl, etherscanUrl, dexscreenerUrl } = config;
  return {
    coingecko: coingeckoUrl,
    sourcify: sourcifyUrl,
    etherscan: etherscanUrl,
    dexscreener: dexscreenerUrl,
  };
}

function openMarket(
  config: Config,
  { clock, logger }: FeedParts,
  restored: RestoredState | undefined,
  place: SimulatedPlace | undefined,
): OpenFeed {
  if (config.feed === "simulated") {
    const { seed, warmupMs, speed } = config;
    const feed = createSimulatedFeed({
      seed,
      speed,
      clock,
      ...(place ?? { startAtMs: clock.now(), warmupMs }),
    });
    return { feed, beganAtMs: feed.beginAtMs };
  }
  const before = restored?.engine;
  if (config.feed !== "replay") {
    const afterMs = before?.afterMs;
    return { feed: openLiveMarket(config, config.feed, { clock, logger, afterMs }) };
  }
  const feed = createReplayFeed({
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
      logger.warn({ reason, line, detail }, "line of the recording skipped"),
  });
  return { feed };
}

/** Reading a longer gap takes hours with what public endpoints bear. */
const MAX_CHAIN_GAP_MS = 6 * HOUR_MS;

/** Why a live market cannot be gone on with; `undefined`: what happened since can be asked for, or the market is none. */
export function feedGap(config: Config, restored: RestoredState, nowMs: number): string | undefined {
  const afterMs = restored.engine?.afterMs ?? 0;
  const lastOf = `its last state is of ${new Date(afterMs).toISOString()}`;
  if (chainsOf(config).length > 0 && nowMs - afterMs > MAX_CHAIN_GAP_MS)
    return `${lastOf}, and no more than ${MAX_CHAIN_GAP_MS / HOUR_MS} hours of a chain are made up for`;
  const isAsked = config.feed === "exchange" || config.feed === "live";
  if (isAsked && nowMs - afterMs > MAX_FILL_MS)
    return `${lastOf}, and the exchanges are asked for no more than ${MAX_FILL_MS / HOUR_MS} hours`;
  return undefined;
}
