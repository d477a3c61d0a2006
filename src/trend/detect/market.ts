import { MINUTE_MS } from "../../lib/time/time.ts";

/*
 * What a whole group of tokens does, so that a move of all is nobody's flare and nobody's rank.
 */

const PATH_MINUTES = 32;
/** Nothing is heard of a group for a minute, and for so many times as long as usual: its feed is cut off. */
const OUTAGE_GAPS = 20;
/** Share of the latest gap in the usual one. */
const GAP_SHARE = 0.05;

/** What the rest of a group does: medians over its trading tokens, all 0 when those are too few. */
export interface Market {
  longRise: number;
  burst: number;
  logVolume: number;
  /** Last trade or candle of any of its tokens; -1 before the first. */
  heardMs: number;
  /** Usual time between one and the next, and when the first came after an outage; -1 before. */
  usualGapMs: number;
  resumedMs: number;
  /** When the medians were last measured; -1 before. */
  measuredMs: number;
  /** The market's own path: median one-minute log returns added up, at each of the last 32 minutes by minute modulo 32. */
  readonly path: Float64Array;
  pathMinute: number;
}

/** A market of which nothing is known. */
export function createMarket(): Market {
  return {
    longRise: 0,
    burst: 0,
    logVolume: 0,
    heardMs: -1,
    usualGapMs: MINUTE_MS,
    resumedMs: -1,
    measuredMs: -1,
    path: new Float64Array(PATH_MINUTES),
    pathMinute: -1,
  };
}

/** Notes that one of the market's tokens traded. */
export function noteHeard(market: Market, atMs: number): void {
  const gapMs = market.heardMs < 0 ? 0 : atMs - market.heardMs;
  if (isCutOff(market, atMs)) market.resumedMs = atMs;
  else if (gapMs > 0) market.usualGapMs += (gapMs - market.usualGapMs) * GAP_SHARE;
  market.heardMs = Math.max(market.heardMs, atMs);
}

/** Whether so long nothing was heard of any token that it is not the tokens that are silent. */
export function isCutOff({ heardMs, usualGapMs }: Readonly<Market>, atMs: number): boolean {
  return heardMs >= 0 && atMs - heardMs > Math.max(MINUTE_MS, OUTAGE_GAPS * usualGapMs);
}

/** Adds the market's move within `minute` to its path. Minutes that were left out were flat. */
export function extendPath(market: Market, minute: number, move: number): void {
  const { path, pathMinute } = market;
  const level = pathMinute < 0 ? 0 : (path[pathMinute % PATH_MINUTES] ?? 0);
  const from = Math.max(pathMinute + 1, minute - PATH_MINUTES + 1);
  for (let step = from; step < minute; step++) path[step % PATH_MINUTES] = level;
  path[minute % PATH_MINUTES] = level + move;
  market.pathMinute = minute;
}

/** How far the market moved since the end of `minute`, as log return; 0 for a minute that is no longer known. */
export function moveSince({ path, pathMinute }: Readonly<Market>, minute: number): number {
  if (minute > pathMinute || minute <= pathMinute - PATH_MINUTES) return 0;
  return (path[pathMinute % PATH_MINUTES] ?? 0) - (path[minute % PATH_MINUTES] ?? 0);
}
