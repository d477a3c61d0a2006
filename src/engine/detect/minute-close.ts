import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { DetectorSettings } from "../settings.ts";
import { advanceRing, closeAt, recordInRing, recordPast } from "../state/bucket-ring.ts";
import { CHART_MINUTES, notePeak, type PendingCandle, type TokenState } from "../state/token-state.ts";
import { createCandleState, type Minute } from "./measures/candle-detector.ts";
import { type SecondsState, takeMinute } from "./measures/seconds-detector.ts";

/* What the end of a minute changes in a token's candle, price and peak. */

/** How long a token with trades waits for its past candles before its trades make candles. */
const PAST_CANDLES_MS = 600_000;

/**
 * Makes the minute's candle from the trades by the second, if the feed sends no candles. A new
 * token waits for past ones, which must come first.
 */
export function takeCandle(
  token: TokenState,
  seconds: SecondsState,
  atMs: number,
  settings: DetectorSettings,
): void {
  const minute = takeMinute(seconds);
  const isWaiting = !token.candle && atMs - seconds.sinceMs < PAST_CANDLES_MS;
  if (!minute || isWaiting || token.candleMinute >= 0) return;
  token.candle ??= createCandleState(minute.close, settings);
  token.pending ??= minute;
}

/** Records a candle's close in the token's chart, its peak and, unless that is newer, its price. */
export function noteClose(token: TokenState, { close, text, volume }: PendingCandle, minute: number): void {
  // Trades of later minutes may be known already.
  if (minute < token.minutes.last) recordPast(token.minutes, minute, minute + 1, close, 0, 0);
  else recordInRing(token.minutes, minute, close, 0, 0);
  notePeak(token, close, minute);
  if (token.priceAtMs > (minute + 1) * MINUTE_MS) return;
  token.price = close;
  token.priceText = text;
  if (volume > 0) token.priceAtMs = (minute + 1) * MINUTE_MS;
}

export function flat(close: number): Minute {
  return { close, volume: 0 };
}

export function resetPeak(token: TokenState, minute: number): void {
  advanceRing(token.minutes, minute);
  token.peak = token.price;
  token.peakMinute = minute;
  for (let step = Math.max(minute - CHART_MINUTES + 1, token.minutes.first); step <= minute; step++) {
    const close = closeAt(token.minutes, step);
    if (close > token.peak) {
      token.peak = close;
      token.peakMinute = step;
    }
  }
}
