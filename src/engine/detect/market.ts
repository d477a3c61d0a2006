import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { MarketGroup } from "../../base/market/index.ts";

/*
 * Tracks the moves of a whole group, so that a token does not flare or rank only because its whole
 * group moved.
 */

const PATH_MINUTES = 32;
/**
 * A group's feed counts as cut off after this many usual gaps without data, but at least a minute.
 */
const OUTAGE_GAPS = 20;
/** Weight of the latest gap in the average gap (`usualGapMs`). */
const GAP_SHARE = 0.05;

export function createMarket() {
  return {
    longRise: 0,
    burst: 0,
    logVolume: 0,
    /** Last trade, candle or report on any of the group's tokens; -1 before the first. */
    heardMs: -1,
    /** Average time between two of those. */
    usualGapMs: MINUTE_MS,
    /** When the first data arrived after an outage; -1 before. */
    resumedMs: -1,
    /** When the medians were last measured; -1 before. */
    measuredMs: -1,
    /**
     * Since when the feed has known the group's trades; -1 if it did not say, which means from the
     * start.
     */
    sinceMs: -1,
    /**
     * The median one-minute log returns, added up: the sum at the end of each of the last 32
     * minutes, by minute modulo 32.
     */
    path: new Float64Array(PATH_MINUTES),
    pathMinute: -1,
  };
}

/**
 * A group's medians, the times of its data, and its price path. The medians are subtracted from
 * each token's values. They are 0 if too few tokens trade.
 */
export type Market = ReturnType<typeof createMarket>;
export type Markets = Record<MarketGroup, Market>;

export function noteHeard(market: Market, atMs: number): void {
  const gapMs = market.heardMs < 0 ? 0 : atMs - market.heardMs;
  if (isCutOff(market, atMs)) market.resumedMs = atMs;
  else if (gapMs > 0) market.usualGapMs += (gapMs - market.usualGapMs) * GAP_SHARE;
  market.heardMs = Math.max(market.heardMs, atMs);
}

/** Returns whether the whole group has been silent for so long that its feed must be down. */
export function isCutOff({ heardMs, usualGapMs }: Readonly<Market>, atMs: number): boolean {
  return heardMs >= 0 && atMs - heardMs > Math.max(MINUTE_MS, OUTAGE_GAPS * usualGapMs);
}

/** Adds the market's move within `minute` to its path. Skipped minutes were flat. */
export function extendPath(market: Market, minute: number, move: number): void {
  const { path, pathMinute } = market;
  const level = pathMinute < 0 ? 0 : (path[pathMinute % PATH_MINUTES] ?? 0);
  const from = Math.max(pathMinute + 1, minute - PATH_MINUTES + 1);
  for (let step = from; step < minute; step++) path[step % PATH_MINUTES] = level;
  path[minute % PATH_MINUTES] = level + move;
  market.pathMinute = minute;
}

/**
 * Returns the market's log return since the end of `minute`; 0 if that is too long ago or not over
 * yet.
 */
export function moveSince({ path, pathMinute }: Readonly<Market>, minute: number): number {
  if (minute > pathMinute || minute <= pathMinute - PATH_MINUTES) return 0;
  return (path[pathMinute % PATH_MINUTES] ?? 0) - (path[minute % PATH_MINUTES] ?? 0);
}
