import type { Trade } from "../../base/market/index.ts";
import type { FollowedPair } from "./choose-pairs.ts";
import type { VenueTrade } from "./venue.ts";

interface HeldTrade {
  readonly id: bigint;
  /** Its event; `at` is the time of the trade. */
  readonly event: Trade;
  /** Whether it was requested, because the stream had missed it. */
  readonly isPast: boolean;
}

/** A trade this much older than the latest event is a past trade. The engine rejects later ones. */
export const LATE_TRADE_MS = 5_000;
/** How far the clocks of the exchanges may differ, so that their trades keep their own times. */
const MAX_AHEAD_MS = 1_000;
/** Beyond this number of trades, the feed's reader is too slow, and the newest are dropped. */
const MAX_HELD = 200_000;

/** Holds trades until they are due, and puts them in the order of their times. */
export class TradeBuffer {
  /** Number of dropped trades. The feed reports and resets it. */
  dropped = 0;
  #held: HeldTrade[] = [];
  #isSorted = true;

  /** Adds a trade. A time far beyond `nowMs` is that of a wrong clock, and becomes `nowMs`. */
  put({ token, quote }: FollowedPair, trade: VenueTrade, isPast: boolean, nowMs: number): void {
    if (this.#held.length >= MAX_HELD) {
      this.dropped += 1;
      return;
    }
    const { id, side, price, amount, value: quoteUsd } = trade;
    const at = trade.at > nowMs + MAX_AHEAD_MS ? Math.floor(nowMs) : trade.at;
    const pool = `${token}/${quote}`;
    const event: Trade = {
      kind: "trade",
      at,
      group: "exchange",
      pool,
      token,
      side,
      price,
      amount,
      quoteUsd,
    };
    const last = this.#held.at(-1);
    const held = { id, event, isPast };
    if (last && compare(last, held) > 0) this.#isSorted = false;
    this.#held.push(held);
  }

  /**
   * Removes and returns the trades from before `beforeMs`, ordered by time, pair and id. Past
   * trades are dated as late as the one before, or as `latestMs`, the time of the latest event.
   */
  take(beforeMs: number, latestMs: number): readonly Trade[] {
    if (!this.#isSorted) this.#held.sort(compare);
    this.#isSorted = true;
    let due = 0;
    while ((this.#held[due]?.event.at ?? beforeMs) < beforeMs) due += 1;
    let reachedMs = latestMs;
    return this.#held.splice(0, due).map(({ event, isPast }) => {
      reachedMs = Math.max(reachedMs, event.at);
      if (!isPast && event.at >= reachedMs - LATE_TRADE_MS) return event;
      return { ...event, at: reachedMs, tradedAt: event.at };
    });
  }
}

/** Orders by time, then by pair, then by id: the exchange may give many trades the same time. */
function compare(one: HeldTrade, two: HeldTrade): number {
  if (one.event.at !== two.event.at) return one.event.at - two.event.at;
  if (one.event.pool !== two.event.pool) return one.event.pool < two.event.pool ? -1 : 1;
  return one.id < two.id ? -1 : one.id > two.id ? 1 : 0;
}
