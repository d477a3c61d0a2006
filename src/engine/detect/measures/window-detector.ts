import { clip, decay } from "../../../base/lib/statistics.ts";
import { DAY_MS, MINUTE_MS } from "../../../base/lib/time/time.ts";
import type { Window, WindowCounts } from "../../../base/market/index.ts";
import type { DetectorSettings } from "../../settings.ts";
import { type BucketRing, closesWithin, knownSteps } from "../../state/bucket-ring.ts";
import { LN_EPSILON_SHARE, stepPageSum } from "./candle-detector.ts";

/*
 * Measures a token that only an aggregator reports on: counts of the last five minutes, hour and
 * day. A report contains its own baseline, so a token can be judged by its first report.
 */

const RECENT_MS = 300_000;
/** How many minutes of closes the long average, the burst and the volatility use. */
const PAST_MINUTES = 60;

/**
 * If the average trade is below this share of the usual one, dust dilutes the trades: each trader
 * counts as a fraction.
 */
const DUST_SHARE = 0.25;

/**
 * Measures a report. `ring` has the token's closes up to `minute`, including the report's.
 */
export function measureWindow(
  { at, counts, createdAt }: Window,
  ring: BucketRing,
  minute: number,
  settings: DetectorSettings,
) {
  const { m5, h1, h24 } = counts;
  const ageMs = createdAt === undefined ? DAY_MS : clip(at - createdAt, 0, DAY_MS);
  const usualMs = Math.max(0, ageMs - RECENT_MS);
  // Distinct buyers per purchase, in the last five minutes or the last hour, whichever is greater.
  // The hour's is usually lower, because it counts a wallet only once.
  const distinct = Math.max(shareOf(m5.buyers, m5.buys), shareOf(h1.buyers, h1.buys));
  const usd = Number(m5.usd);
  const usualUsd = usualMs > 0 ? (Math.max(0, Number(h24.usd) - usd) * RECENT_MS) / usualMs : 0;
  return {
    /** Event time of the report. */
    atMs: at,
    /** The last five minutes. */
    buys: m5.buys,
    sells: m5.sells,
    buyers: m5.buyers,
    usd,
    /**
     * Share of these trades and traders that counts (see {@link realShare}); below 1 if dust
     * dilutes them.
     */
    real: realShare(m5, h24),
    /** Trades of the five minutes, the hour and the day. */
    totals: [m5.buys + m5.sells, h1.buys + h1.sells, h24.buys + h24.sells] as const,
    hourBuys: h1.buys,
    hourSells: h1.sells,
    hourBuyers: h1.buyers,
    hourSellers: h1.sellers,
    hourUsd: Number(h1.usd),
    /**
     * Estimated buyers of the day before these five minutes, each counted once per five minutes.
     */
    usualBuyers: Math.max(0, h24.buys - m5.buys) * distinct,
    /** The length of that period in milliseconds. */
    usualMs,
    /** Usual dollars in five minutes. */
    usualUsd,
    ...measurePath(ring, minute, settings),
    /** Log of the last five minutes' volume minus the log of the usual volume. */
    logVolume:
      Math.log(usd + LN_EPSILON_SHARE * usualUsd + 1) - Math.log(usualUsd * (1 + LN_EPSILON_SHARE) + 1),
  };
}

/** Measurements of one token as of its latest report. */
export type WindowState = ReturnType<typeof measureWindow>;

/**
 * Measures the last hour's closes as the other forms measure theirs: the log return above the long
 * average, the climb since the last low, and the variance of one-minute log returns. The burst's
 * drift and the limit on a return come from an assumed volatility. While few closes are known, the
 * variance is shrunk toward it.
 */
function measurePath(ring: BucketRing, minute: number, settings: DetectorSettings) {
  const count = knownSteps(ring, minute, PAST_MINUTES);
  const closes = closesWithin(ring, minute - count + 1, minute);
  const drift = settings.burstDrift * settings.priorVolatility;
  const left = decay(MINUTE_MS, settings.priceMs);
  let longPrice = closes[0] ?? 0;
  let burst = 0;
  let squares = 0;
  for (let index = 1; index < count; index++) {
    const close = closes[index] ?? 0;
    const change = Math.log(close / (closes[index - 1] ?? close));
    burst = stepPageSum(burst, change, drift);
    squares += Math.min(Math.abs(change), settings.returnClip * settings.priorVolatility) ** 2;
    longPrice = close + (longPrice - close) * left;
  }
  const prior = settings.priorMinutes;
  const variance = (squares + prior * settings.priorVolatility ** 2) / (count + prior);
  return { longRise: Math.log((closes[count - 1] ?? longPrice) / longPrice), burst, variance };
}

/**
 * Returns the average recent trade divided by {@link DUST_SHARE} of the usual one; at most 1, and 1
 * if either is unknown.
 */
function realShare(m5: WindowCounts, h24: WindowCounts): number {
  const trades = m5.buys + m5.sells;
  const usualTrades = h24.buys + h24.sells - trades;
  const usualUsd = Number(h24.usd) - Number(m5.usd);
  if (trades === 0 || usualTrades <= 0 || usualUsd <= 0) return 1;
  return Math.min(1, Number(m5.usd) / trades / (DUST_SHARE * (usualUsd / usualTrades)));
}

function shareOf(part: number, whole: number): number {
  return whole > 0 ? Math.min(1, part / whole) : 0;
}
