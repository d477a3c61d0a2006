import type { Candle, Trade } from "../../../src/base/market/index.ts";
import type { Label } from "../../../src/feeds/simulated/market/episodes/label.ts";
import { type LastTrades, nameOf } from "./last-trades.ts";
import { GRACE_MINUTES } from "./score.ts";
import { MINUTE_MS } from "./series.ts";

/** A labelled pump with its prices. */
export interface PumpCourse {
  readonly label: Label;
  /** Price before the pump. */
  readonly before: number;
  /** Highest price up to a minute after the planned peak; NaN without a trade. */
  readonly peak: number;
  /** Price when its flare was first seen; NaN without a flare. */
  readonly atStart: number;
}

type Course = { -readonly [Name in keyof PumpCourse]: PumpCourse[Name] };

/** Records the prices of labelled pumps while a market runs. */
export class PumpCourses {
  readonly all: Course[] = [];
  readonly #latest = new Map<string, Course>();
  readonly #prices: LastTrades;

  constructor(prices: LastTrades) {
    this.#prices = prices;
  }

  begin(label: Label): void {
    if (label.kind !== "pump") return;
    const pair = nameOf(label.group, label.token);
    const isFresh = this.#prices.silentSince(pair) > label.startAtMs - 30 * MINUTE_MS;
    const before = isFresh ? this.#prices.priceOf(pair) : Number.NaN;
    const course = { label, before, peak: Number.NaN, atStart: Number.NaN };
    this.all.push(course);
    this.#latest.set(pair, course);
  }

  trade(pair: string, event: Trade | Candle): void {
    const course = this.#latest.get(pair);
    if (!course || event.at > (course.label.peakAtMs ?? 0) + MINUTE_MS) return;
    const price = Number(event.kind === "trade" ? event.price : event.high);
    if (!(price <= course.peak)) course.peak = price;
  }

  /** Records that a flare of the token was seen, which started at `sinceMs`. */
  flare(pair: string, sinceMs: number): void {
    const course = this.#latest.get(pair);
    if (!course || !Number.isNaN(course.atStart)) return;
    const { startAtMs, endAtMs } = course.label;
    if (sinceMs < startAtMs || sinceMs >= endAtMs + GRACE_MINUTES * MINUTE_MS) return;
    course.atStart = this.#prices.priceOf(pair);
  }
}

/**
 * Returns the share of the move, from the price before to the peak, that was ahead when the flare
 * was seen; NaN if unknown.
 */
export function shareAhead({ label, before, peak, atStart }: PumpCourse): number {
  const from = Number.isNaN(before) ? peak / (1 + label.size) : before;
  return (peak - atStart) / (peak - from);
}
