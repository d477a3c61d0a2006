import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { type Config, ETHERSCAN_KEY_VARIABLE } from "./config.ts";
import {
  createBinance,
  createChainFeed,
  createEnrichers,
  createExchangeFeed,
  createGate,
  createKucoin,
  createReplayFeed,
  createSimulatedFeed,
  type EnricherName,
  enricherProbes,
  enrichFeed,
  type Feed,
  LONGEST_FILL_MS,
  NETWORKS,
  type Probe,
  type Venue,
  venueProbes,
} from "./feed/index.ts";
import type { WallClock } from "./lib/clock.ts";
import { HOUR_MS } from "./lib/time.ts";
import { FlarewireError } from "./protocol/index.ts";
import type { RestoredState } from "./restored-state.ts";
import type { SimulatedPlace } from "./resume-simulated.ts";

/** What a feed is opened with. */
export interface FeedParts {
  readonly clock: WallClock;
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
export function probesOf(
  config: Config,
  clock: WallClock,
  etherscanKey: string | undefined,
): readonly Probe[] {
  const venues = config.feed === "exchange" ? venuesOf(config, clock) : [];
  return [
    ...venues.flatMap((venue) => venueProbes(venue, clock)),
    ...enricherProbes({ names: config.enrich, urls: enricherUrls(config), etherscanKey, clock }),
  ];
}

function enricherUrls(config: Config): Readonly<Record<EnricherName, string>> {
  const { coingeckoUrl, sourcifyUrl, etherscanUrl, dexscreenerUrl, redditUrl } = config;
  return {
    coingecko: coingeckoUrl,
    sourcify: sourcifyUrl,
    etherscan: etherscanUrl,
    dexscreener: dexscreenerUrl,
    reddit: redditUrl,
  };
}

function noticeTo(logger: Logger) {
  return (sentence: string, isTrouble: boolean) =>
    isTrouble ? logger.warn(sentence) : logger.info(sentence);
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
  if (config.feed === "exchange") {
    const feed = createExchangeFeed({
      venues: venuesOf(config, clock),
      quotes: config.exchangeQuotes,
      minVolume: config.exchangeVolume,
      warmupMs: config.warmupMs,
      ...(before ? { resumeAfterMs: before.afterMs } : {}),
      clock,
      onNotice: noticeTo(logger),
    });
    return { feed };
  }
  if (config.feed === "chain") {
    const feed = createChainFeed({
      network: NETWORKS[config.chain],
      urls: config.rpc,
      clock,
      backfillMs: config.warmupMs,
      ...(before ? { resumeAfterMs: before.afterMs } : {}),
      onNotice: noticeTo(logger),
    });
    return { feed };
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

/** The exchanges that the config names, where it says that they are. */
function venuesOf(config: Config, clock: WallClock): readonly Venue[] {
  const { binanceUrl, binanceStreamUrl, kucoinUrl, gateUrl, gateStreamUrl } = config;
  const open = {
    binance: () => createBinance({ url: binanceUrl, streamUrl: binanceStreamUrl }),
    kucoin: () => createKucoin({ url: kucoinUrl, connectId: randomUUID }),
    gate: () => createGate({ url: gateUrl, streamUrl: gateStreamUrl, now: () => clock.now() }),
  };
  return [...new Set(config.exchanges)].map((name) => open[name]());
}

/** Reading a longer gap takes hours with what public endpoints bear. */
const MOST_CHAIN_GAP_MS = 6 * HOUR_MS;

/** Why a live market cannot be gone on with; `undefined`: what happened since can be asked for, or the market is none. */
export function feedGap({ feed }: Config, restored: RestoredState, nowMs: number): string | undefined {
  if (feed === "exchange") return exchangeGap(restored, nowMs);
  const afterMs = restored.engine?.afterMs ?? 0;
  if (feed !== "chain" || nowMs - afterMs <= MOST_CHAIN_GAP_MS) return undefined;
  return `its last state is of ${new Date(afterMs).toISOString()}, and no more than ${MOST_CHAIN_GAP_MS / HOUR_MS} hours of a chain are made up for`;
}

/** Why the exchanges' market cannot be gone on with; `undefined`: what happened since can be asked for. */
function exchangeGap(restored: RestoredState, nowMs: number): string | undefined {
  const afterMs = restored.engine?.afterMs ?? 0;
  if (nowMs - afterMs <= LONGEST_FILL_MS) return undefined;
  return `its last state is of ${new Date(afterMs).toISOString()}, and the exchanges are asked for no more than ${LONGEST_FILL_MS / HOUR_MS} hours`;
}
