import { randomUUID } from "node:crypto";
import { notifyLog } from "../../base/lib/notify.ts";
import { formatDuration } from "../../base/lib/text/quantity.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { HOUR_MS } from "../../base/lib/time/time.ts";
import type { SettingsOf } from "../../base/settings/index.ts";
import type { Feed } from "../../gateway/source/index.ts";
import type { FeedContext, FeedKind } from "../feed-kind.ts";
import { gapProblem } from "../gap-problem.ts";
import type { MarketSettings } from "../market-settings.ts";
import { createBinance } from "./binance.ts";
import { createExchangeFeed, MAX_FILL_MS } from "./exchange-feed.ts";
import { EXCHANGE_SETTINGS } from "./exchange-settings.ts";
import { createGate } from "./gate.ts";
import { createKucoin } from "./kucoin.ts";
import type { Venue } from "./venue.ts";
import { venueProbes } from "./venue-probes.ts";

const NAMES = Object.keys(EXCHANGE_SETTINGS);

type Settings = SettingsOf<typeof EXCHANGE_SETTINGS>;

/** The spot markets of exchanges. */
export const exchange: FeedKind<typeof EXCHANGE_SETTINGS> = {
  name: "exchange",
  settings: EXCHANGE_SETTINGS,
  market: {
    title: "the exchanges' market",
    about: "spot markets",
    settings: NAMES,
    isRealTime: true,
    startsAtPresent: false,
    defaults: () => ({ warmup: "6h" }),
    problem: tooLongWarmup,
    describe: ({ exchanges }) => `the live markets of ${exchanges.join(", ")}`,
    open: (settings, context, resume) => ({
      feed: openExchanges(settings, context, resume?.afterMs, { warmupMs: settings.warmupMs }),
    }),
    resume(_settings, { afterMs }, nowMs) {
      const problem = gapProblem("this market", MAX_FILL_MS, afterMs, nowMs);
      return problem === undefined ? { presentAtMs: nowMs } : { problem };
    },
    identity: () => "",
    fingerprint: (settings) => ({ ...followed(settings), refreshMs: settings.refreshMs }),
    groups: () => [],
    checks,
  },
  parts: [
    {
      name: "exchange",
      settings: NAMES,
      groups: () => [],
      problem: tooLongWarmup,
      describe: ({ exchanges }) => exchanges.join(", "),
      open(settings, context) {
        const warmupMs = partWarmupOf(settings.warmupMs);
        return openExchanges(settings, context, context.afterMs, { warmupMs, startsAtPresent: true });
      },
      fingerprint: followed,
      checks,
    },
  ],
};

function openExchanges(
  settings: Settings,
  { clock, logger }: FeedContext,
  afterMs: number | undefined,
  start: { readonly warmupMs: number; readonly startsAtPresent?: true },
): Feed {
  return createExchangeFeed({
    venues: venuesOf(settings, clock),
    quotes: settings.exchangeQuotes,
    minVolume: settings.exchangeVolume,
    ...start,
    ...(afterMs === undefined ? {} : { resumeAfterMs: afterMs }),
    clock,
    notify: notifyLog(logger),
  });
}

/**
 * Returns how far back a part of another market reads the exchanges, in ms: not at all without a
 * warm-up; otherwise at least the hour that the charts show. Reading costs one request per market.
 */
function partWarmupOf(warmupMs: number): number {
  return warmupMs === 0 ? 0 : Math.max(warmupMs, HOUR_MS);
}

function tooLongWarmup({ feed, warmupMs }: MarketSettings): string | undefined {
  if (warmupMs <= MAX_FILL_MS) return undefined;
  const [value, max] = [formatDuration(warmupMs), formatDuration(MAX_FILL_MS)];
  return `warmup must be at most ${max} with feed = ${feed}, got ${value}: exchanges do not serve a longer history`;
}

function followed({ exchanges, exchangeQuotes }: Settings) {
  return { exchanges, exchangeQuotes };
}

function checks(settings: Settings, clock: Clock) {
  return venuesOf(settings, clock).flatMap((venue) => venueProbes(venue, clock));
}

function venuesOf(
  { exchanges, binanceUrl, binanceStreamUrl, kucoinUrl, gateUrl, gateStreamUrl }: Settings,
  clock: Clock,
): readonly Venue[] {
  const open = {
    binance: () => createBinance({ url: binanceUrl, streamUrl: binanceStreamUrl }),
    kucoin: () => createKucoin({ url: kucoinUrl, connectId: randomUUID }),
    gate: () => createGate({ url: gateUrl, streamUrl: gateStreamUrl, now: () => clock.now() }),
  };
  return [...new Set(exchanges)].map((name) => open[name]());
}
