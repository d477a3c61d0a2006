import { MINUTE_MS } from "../../../../base/lib/time/time.ts";
import type { Candle } from "../../../../base/market/index.ts";
import { decimal } from "../decimal.ts";
import type { Phase } from "../episodes/script.ts";

/** The part of a script's phase that lies in a minute. */
export interface ScriptPart {
  readonly phase: Phase;
  readonly from: number;
  readonly until: number;
  /** Natural logarithm of the target price over the price without the script, at both times. */
  readonly fromOffset: number;
  readonly untilOffset: number;
}

/** A script's course within a minute. */
export interface Course {
  /** The offset before the minute, as in {@link ScriptPart}. */
  readonly before: number;
  /** In the order of time. */
  readonly parts: readonly ScriptPart[];
}

/** One minute of a pair with trades, as decided when it begins. Prices in dollars. */
export interface Minute {
  readonly openAt: number;
  /** The price of the last trade before the minute. */
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  /** In the token. */
  readonly volume: number;
  readonly buyVolume: number;
  readonly trades: number;
  /** How many of the trades belong to the script. */
  readonly scripted: number;
  /** The share of the other trades that buy, not limited to [0, 1]. */
  readonly lean: number;
  /** Standard deviation of the logarithm of the price's own move. */
  readonly reach: number;
  readonly course: Course;
}

/** Returns the minute's candle, which occurs when the minute ends. */
export function candleOf(token: string, minute: Minute): Candle {
  const { openAt, trades } = minute;
  return {
    kind: "candle",
    at: openAt + MINUTE_MS,
    group: "exchange",
    token,
    openAt,
    open: decimal(minute.open),
    high: decimal(minute.high),
    low: decimal(minute.low),
    close: decimal(minute.close),
    volume: decimal(minute.volume),
    trades,
    buyVolume: decimal(minute.buyVolume),
  };
}
