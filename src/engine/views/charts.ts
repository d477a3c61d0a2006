import { medianInPlace, roundTo } from "../../base/lib/statistics.ts";
import { formatDecimal } from "../../base/lib/text/figures.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { FeedFacts } from "../../base/market/index.ts";
import type { BscChartItem, ChainChartItem, ExchangeChartItem } from "../../base/model/index.ts";
import { type Market, moveSince } from "../detect/market.ts";
import { isDeepEnough } from "../detect/pools.ts";
import type { DetectorSettings } from "../settings.ts";
import { advanceRing, closeAt, closesWithin, knownSteps } from "../state/bucket-ring.ts";
import { chartItemId } from "../state/ids.ts";
import {
  activeMinutesOf,
  CHART_MINUTES,
  countChartTrades,
  isTrading,
  type TokenState,
} from "../state/token-state.ts";
import { viewNestedFlare, viewSymbol } from "./flare-view.ts";

const TOP = 10;
const RECENT_MINUTES = 5;
const DECIMALS = 4;

/** A token eligible for the chart, with the measurements for its rank. */
export interface Candidate {
  readonly token: TokenState;
  /** Mean close of the last 60 minutes, or of as many as there are. */
  readonly average: number;
  /** Log of the last close over that average, plus the market's rise since the last trade. */
  readonly rise: number;
  /** Known minutes of the hour. */
  readonly count: number;
  /** Variance of one-minute log returns within them. */
  readonly variance: number;
  /** Active minutes among the last 32, as evidence for that variance. */
  readonly evidence: number;
}

/**
 * Returns the ten tokens of a group with the best rise relative to their risk at the minute `atMs`,
 * best first. If fewer than ten rise, those that fall least follow. If fewer than ten trade, the
 * list is shorter.
 *
 * Rank: `(rise − m) / risk`, ties by address. `rise = ln(P/A)`, where P is the last close, A the
 * mean of the last n ≤ 60 closes, and m the candidates' median rise (0 for fewer than five), so
 * that a common move does not change ranks. P of a token without recent trades follows the market
 * since its last trade: a constant price while all others fall is old, not strong. `risk =
 * s·√((n−1)(2n−1)/6n)` is the standard deviation, to first order, of ln(P/A) for a random walk
 * whose steps have variance s², because step k has weight k/n. s² is the token's own variance,
 * shrunk toward the candidates' median, the more so the fewer of its minutes had trades.
 *
 * Excluded: quote tokens; tokens that did not trade in at least three of the last ten minutes,
 * whose prices are known for a few minutes only, or whose canary is on. On chains also tokens that
 * no aggregator lists (if the feed has profiles), that trade for cents only, or that have too
 * little liquidity (if it is known).
 */
export function rankTokens(
  tokens: Iterable<TokenState>,
  atMs: number,
  market: Readonly<Market>,
  facts: FeedFacts,
  settings: DetectorSettings,
): Candidate[] {
  const candidates: Candidate[] = [];
  for (const token of tokens) {
    if (!isEligible(token, atMs, facts, settings)) continue;
    const candidate = measure(token, atMs, market, settings);
    if (candidate) candidates.push(candidate);
  }
  const isKnown = candidates.length >= settings.marketMinimum;
  const medianOf = (of: (candidate: Candidate) => number) => medianInPlace(candidates.map(of));
  const usualRise = isKnown ? medianOf(({ rise }) => rise) : 0;
  const usualVariance = (isKnown && medianOf(({ variance }) => variance)) || settings.priorVolatility ** 2;
  const worths = new Map(
    candidates.map((candidate) => [candidate, worthOf(candidate, usualRise, usualVariance, settings)]),
  );
  const worth = (candidate: Candidate) => worths.get(candidate) ?? 0;
  return best(candidates, (a, b) => worth(b) - worth(a) || (a.token.key < b.token.key ? -1 : 1));
}

function worthOf(
  { rise, count, variance, evidence }: Candidate,
  usualRise: number,
  usualVariance: number,
  settings: DetectorSettings,
): number {
  const prior = settings.chartPriorMinutes;
  const shrunk = (evidence * variance + prior * usualVariance) / (evidence + prior);
  const risk = Math.sqrt((shrunk * (count - 1) * (2 * count - 1)) / (6 * count));
  return (rise - usualRise) / Math.max(risk, Number.MIN_VALUE);
}

/** Returns the first ten in the order of `compare`, without sorting thousands each minute. */
function best(
  candidates: readonly Candidate[],
  compare: (a: Candidate, b: Candidate) => number,
): Candidate[] {
  const top: Candidate[] = [];
  for (const candidate of candidates) {
    const last = top[TOP - 1];
    if (last && compare(candidate, last) > 0) continue;
    const index = top.findIndex((other) => compare(candidate, other) < 0);
    top.splice(index < 0 ? top.length : index, 0, candidate);
    if (top.length > TOP) top.pop();
  }
  return top;
}

function isEligible(token: TokenState, atMs: number, facts: FeedFacts, settings: DetectorSettings): boolean {
  const { profile } = token;
  if (profile.quote || token.canary.isOn || !isTrading(token, atMs)) return false;
  if (token.group === "exchange") return true;
  if (facts.profiles && profile.marketData === null) return false;
  const traded = token.trades ?? token.window;
  if (traded && traded.usd < settings.chartTradedUsd) return false;
  return isDeepEnough(token, facts, settings);
}

function measure(
  token: TokenState,
  atMs: number,
  market: Readonly<Market>,
  settings: DetectorSettings,
): Candidate | undefined {
  const ring = token.minutes;
  const end = lastMinute(atMs);
  advanceRing(ring, end);
  const count = knownSteps(ring, end, CHART_MINUTES);
  if (count < Math.max(2, settings.chartMinutes)) return undefined;
  let sum = 0;
  let squares = 0;
  let before = 0;
  const closes = closesWithin(ring, end - count + 1, end);
  for (let index = 0; index < count; index++) {
    const close = closes[index] ?? 0;
    sum += close;
    // Most minutes of most tokens are flat, and a logarithm costs more than everything else here.
    if (before > 0 && close !== before) squares += Math.log(close / before) ** 2;
    before = close;
  }
  const average = sum / count;
  const rise = Math.log(before / average) + moveSince(market, token.lastActiveMinute);
  const evidence = activeMinutesOf(token, atMs);
  return { token, average, rise, count, variance: squares / (count - 1), evidence };
}

/** Renders an item of the chart of `bsc` at `atMs`. Streak and relevance must be up to date. */
export function viewBscItem(candidate: Candidate, atMs: number): BscChartItem {
  const { token } = candidate;
  const end = lastMinute(atMs);
  const { buys, sells } = countChartTrades(token, end);
  return {
    ...viewChartFacts(candidate, end),
    most_recent_price: token.priceText,
    buy_count: buys,
    sell_count: sells,
    flare: viewNestedFlare(token, atMs),
  };
}

export function viewExchangeItem(candidate: Candidate, atMs: number): ExchangeChartItem {
  return {
    ...viewChartFacts(candidate, lastMinute(atMs)),
    token: viewExchangeToken(candidate.token),
    market_data: candidate.token.profile.marketData,
  };
}

export function viewChainItem(candidate: Candidate, atMs: number): ChainChartItem {
  const { token } = candidate;
  const end = lastMinute(atMs);
  return {
    ...viewChartFacts(candidate, end),
    most_recent_price: token.priceText,
    recent_average_price: formatDecimal(recentAverage(token, end)),
    token: viewChainToken(token),
    market_data: token.profile.marketData,
  };
}

/** Renders a token of the exchange for charts and leaderboards. */
export function viewExchangeToken(token: TokenState): { symbol: string; price: string } {
  return { symbol: viewSymbol(token), price: token.priceText };
}

/** Renders a token of a chain other than `bsc` for charts and leaderboards. */
export function viewChainToken(token: TokenState): { symbol: string; price: string; address: string } {
  return { symbol: viewSymbol(token), price: token.priceText, address: token.address };
}

function lastMinute(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS) - 1;
}

function viewChartFacts({ token, average }: Candidate, end: number) {
  const ring = token.minutes;
  const count = knownSteps(ring, end, CHART_MINUTES);
  const fromAverage = (step: number) => roundTo((closeAt(ring, step) / average - 1) * 100, DECIMALS);
  token.chartId ??= chartItemId(token.group, token.key);
  return {
    id: token.chartId,
    most_recent_price_average: formatDecimal(average),
    price_change_from_average: fromAverage(end),
    streak: token.chart.streak,
    latest_candle_prices: Array.from({ length: count }, (_, index) => fromAverage(end - count + 1 + index)),
  };
}

function recentAverage(token: TokenState, end: number): number {
  const count = Math.max(1, knownSteps(token.minutes, end, RECENT_MINUTES));
  let sum = 0;
  for (let step = end - count + 1; step <= end; step++) sum += closeAt(token.minutes, step);
  return sum / count;
}
