import { MINUTE_MS } from "../../../../base/lib/time/time.ts";
import type { Trade } from "../../../../base/market/index.ts";
import { decimal } from "../decimal.ts";
import type { Random } from "../random.ts";
import type { Course, Minute, ScriptPart } from "./minute.ts";

/**
 * Share of a rising crowd that buys in one wave of rush orders, as after an announcement. A crowd
 * with at least this share of buys rises.
 */
const RUSH_SHARE = 0.7;
const WAVE_MS = 3_000;
/** The most fills of one order in a wave, and of any other. */
const RUSH_FILLS = 10;
const USUAL_FILLS = 2;
const FEWEST_FOR_OPEN = 4;
const FEWEST_FOR_RANGE = 3;

/** What an order got at once, before its price and amount are known. */
interface Fill {
  readonly at: number;
  readonly isBuy: boolean;
}

/**
 * Returns the trades of a minute in the order of time. Their number, their amounts and what was
 * bought are the candle's, and the last price is its close. The lowest and the highest price are
 * the candle's from three trades on, the first price is its open from four on. A single trade has
 * one side, so it bought all or nothing. Orders have several fills in one millisecond, and in a
 * pump's rise many, in waves.
 */
export function tradesOf(token: string, minute: Minute, random: Random): readonly Trade[] {
  const fills = fillsOf(minute, random);
  const prices = pricesOf(minute, fills, random);
  const amounts = amountsOf(minute, fills, random);
  return fills.map(({ at, isBuy }, index) => {
    const price = prices[index] ?? 0;
    const amount = amounts[index] ?? 0;
    return {
      kind: "trade",
      at,
      group: "exchange",
      pool: `${token}/USDT`,
      token,
      side: isBuy ? "buy" : "sell",
      price: decimal(price),
      amount: decimal(amount),
      quoteUsd: decimal(price * amount),
    };
  });
}

function fillsOf(minute: Minute, random: Random): readonly Fill[] {
  const { openAt, trades, scripted, volume, buyVolume, lean, course } = minute;
  if (trades === 1)
    return [{ at: within(openAt, openAt, openAt + MINUTE_MS, random), isBuy: 2 * buyVolume > volume }];
  const fills: Fill[] = [];
  const order = (at: number, buyShare: number, count: number, most: number) => {
    const fill = { at, isBuy: random.chance(buyShare) };
    for (let left = Math.min(count, most - fills.length); left > 0; left -= 1) fills.push(fill);
  };
  const waves = course.parts.map(({ phase, from, until }) =>
    phase.style === "crowd" && phase.buyShare >= RUSH_SHARE ? random.between(from, until) : null,
  );
  const weights = course.parts.map(
    (part, index) => [index, part.phase.tradesPerMs * (part.until - part.from)] as const,
  );
  while (fills.length < scripted) {
    const index = random.weighted(weights);
    const part = course.parts[index];
    if (!part) break;
    const { from, until, phase } = part;
    const wave = waves[index] ?? null;
    if (wave !== null && random.chance(RUSH_SHARE)) {
      order(
        within(openAt, wave, Math.min(until, wave + WAVE_MS), random),
        1,
        1 + random.below(RUSH_FILLS),
        scripted,
      );
    } else {
      const buyShare = wave === null ? phase.buyShare : (phase.buyShare - RUSH_SHARE) / (1 - RUSH_SHARE);
      order(within(openAt, from, until, random), buyShare, 1 + random.below(USUAL_FILLS), scripted);
    }
  }
  while (fills.length < trades) {
    const count = 1 + random.below(USUAL_FILLS);
    order(within(openAt, openAt, openAt + MINUTE_MS, random), lean, count, trades);
  }
  fills.sort((one, other) => one.at - other.at);
  haveBothSides(fills);
  return fills;
}

/** Returns a whole time within the span, after the minute's beginning: the last candle is first. */
function within(openAt: number, from: number, until: number, random: Random): number {
  return Math.max(openAt + 1, Math.floor(random.between(from, until)));
}

/** A candle of several trades has bought and sold volume. */
function haveBothSides(fills: Fill[]): void {
  const [first] = fills;
  if (!first || fills.some(({ isBuy }) => isBuy !== first.isBuy)) return;
  fills[fills.length - 1] = { at: fills.at(-1)?.at ?? first.at, isBuy: !first.isBuy };
}

/** Returns a Brownian bridge from open to close that follows the script, in the candle's range. */
function pricesOf(minute: Minute, fills: readonly Fill[], random: Random): readonly number[] {
  const { openAt, open, high, low, close, reach, course } = minute;
  const startLog = Math.log(open) - course.before;
  const endLog = Math.log(close) - (course.parts.at(-1)?.untilOffset ?? course.before);
  const walk: number[] = [];
  let [at, level] = [openAt, 0];
  for (const fill of fills) {
    if (fill.at > at) level += reach * Math.sqrt((fill.at - at) / MINUTE_MS) * random.normal();
    at = fill.at;
    walk.push(level);
  }
  const prices = fills.map((fill, index) => {
    const done = (fill.at - openAt) / MINUTE_MS;
    const base = startLog + (endLog - startLog) * done + (walk[index] ?? 0) - level * done;
    return Math.max(low, Math.min(high, Math.exp(base + offsetAt(course, fill.at))));
  });
  pin(prices, minute);
  return prices;
}

/** Sets the prices that the candle determines. */
function pin(prices: number[], { open, high, low, close }: Minute): void {
  const last = prices.length - 1;
  const from = prices.length >= FEWEST_FOR_OPEN ? 1 : 0;
  if (from === 1) prices[0] = open;
  prices[last] = close;
  if (prices.length < FEWEST_FOR_RANGE) return;
  const shown = from === 1 ? [open, close] : [close];
  let top = from;
  for (let index = from; index < last; index += 1) if ((prices[index] ?? 0) > (prices[top] ?? 0)) top = index;
  let bottom = top === from ? from + 1 : from;
  for (let index = from; index < last; index += 1) {
    if (index !== top && (prices[index] ?? 0) < (prices[bottom] ?? 0)) bottom = index;
  }
  if (!shown.includes(high)) prices[top] = high;
  if (!shown.includes(low)) prices[bottom] = low;
}

function offsetAt({ before, parts }: Course, at: number): number {
  const part: ScriptPart | undefined = parts.find(({ until }) => at < until) ?? parts.at(-1);
  if (!part) return before;
  const { from, until, fromOffset, untilOffset } = part;
  return fromOffset + (untilOffset - fromOffset) * Math.min(1, (at - from) / (until - from));
}

/** Splits the bought and the sold volume among the fills. */
function amountsOf({ volume, buyVolume, trades }: Minute, fills: readonly Fill[], random: Random) {
  if (trades === 1) return [volume];
  const weights = fills.map(() => random.logNormal(1, 0.8));
  let [bought, sold] = [0, 0];
  for (const [index, weight] of weights.entries()) {
    if (fills[index]?.isBuy) bought += weight;
    else sold += weight;
  }
  const [perBuy, perSale] = [buyVolume / bought, (volume - buyVolume) / sold];
  return weights.map((weight, index) => weight * (fills[index]?.isBuy ? perBuy : perSale));
}
