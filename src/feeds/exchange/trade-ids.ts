import type { TradeGap, VenueTrade } from "./venue.ts";

interface OpenGap extends TradeGap {
  missing: number | undefined;
  /** Whether the missing trades must be requested. Otherwise they may only have changed places. */
  readonly isRequested: boolean;
  /** Ids of the trades that arrived later. */
  found: Set<bigint> | undefined;
}

export type TradeVerdict = "new" | "repeated" | "restarted";

/** How long a trade may arrive after a later one, in milliseconds, before it counts as missing. */
export const REORDER_MS = 1_000;
/** A larger jump means that the exchange has restarted its numbering. */
const MAX_JUMP = 100_000;
/** Maximum number of gaps of one pair. The oldest are forgotten first. */
const MAX_GAPS = 1_000;

/**
 * The ids of one pair's trades: tells new trades from repeated ones, and where some are missing.
 *
 * A trade is new if it follows the last one, or fits into a gap and was not there yet. If the ids
 * are consecutive, every jump is a gap. Otherwise, there may be one wherever the connection was
 * interrupted, and for {@link REORDER_MS} between any two trades. A trade with a lower id than the
 * last and a later time means that the exchange has restarted its numbering. So one absurd id
 * cannot silence the pair.
 */
export class TradeIds {
  readonly #onGap: (gap: TradeGap) => void;
  #last: VenueTrade | undefined;
  #gaps: OpenGap[] = [];
  #isInterrupted = false;

  /** @param onGap Called with each gap whose trades must be requested. */
  constructor(onGap: (gap: TradeGap) => void) {
    this.#onGap = onGap;
  }

  /** Trades may be missing before the next one. */
  interrupt(): void {
    this.#isInterrupted = true;
  }

  /** Decides about a trade from the stream. */
  accept(trade: VenueTrade, monoMs: number): TradeVerdict {
    const last = this.#last;
    if (last && trade.id <= last.id) return this.#acceptEarlier(trade, last);
    this.#last = trade;
    const step =
      last?.serial === undefined || trade.serial === undefined ? undefined : trade.serial - last.serial;
    const isInterrupted = this.#isInterrupted;
    this.#isInterrupted = false;
    if (!last || step === 1) return "new";
    if (step !== undefined && (step < 1 || step > MAX_JUMP)) {
      this.#gaps = [];
      return "restarted";
    }
    this.#open(last, trade, step === undefined ? undefined : step - 1, monoMs, isInterrupted);
    return "new";
  }

  /** Whether trades are still missing in the gap, as far as known. */
  isOpen(gap: TradeGap): boolean {
    return this.#gaps.some((one) => one === gap);
  }

  /** Returns the trades that belong into the gap and are new, in order. */
  fill(gap: TradeGap, trades: readonly VenueTrade[]): readonly VenueTrade[] {
    const open = this.#gaps.find((one) => one === gap);
    if (!open) return [];
    const found = trades.filter((trade) => fits(open, trade));
    return found.toSorted((one, two) => (one.id < two.id ? -1 : 1));
  }

  /** Forgets the gap. */
  close(gap: TradeGap): void {
    this.#gaps = this.#gaps.filter((one) => one !== gap);
  }

  #acceptEarlier(trade: VenueTrade, last: VenueTrade): TradeVerdict {
    const gap = this.#gaps.find((one) => trade.id > one.afterId && trade.id < one.beforeId);
    if (gap && fits(gap, trade)) {
      if (gap.missing === 0) this.close(gap);
      return "new";
    }
    if (trade.id === last.id || trade.at <= last.at) return "repeated";
    this.#last = trade;
    this.#gaps = [];
    return "restarted";
  }

  #open(
    last: VenueTrade,
    next: VenueTrade,
    missing: number | undefined,
    monoMs: number,
    isInterrupted: boolean,
  ): void {
    const isRequested = missing !== undefined || isInterrupted;
    const gap: OpenGap = {
      afterId: last.id,
      beforeId: next.id,
      sinceMs: last.at,
      untilMs: next.at,
      openedAt: monoMs,
      missing,
      isRequested,
      found: undefined,
    };
    const [oldest] = this.#gaps;
    if (oldest && monoMs - oldest.openedAt > REORDER_MS)
      this.#gaps = this.#gaps.filter((one) => one.isRequested || monoMs - one.openedAt <= REORDER_MS);
    if (this.#gaps.length >= MAX_GAPS) this.#gaps.shift();
    this.#gaps.push(gap);
    if (isRequested) this.#onGap(gap);
  }
}

/** Whether the trade belongs into the gap and is new there. Marks it as found. */
function fits(gap: OpenGap, { id }: VenueTrade): boolean {
  if (id <= gap.afterId || id >= gap.beforeId || gap.found?.has(id)) return false;
  gap.found ??= new Set();
  gap.found.add(id);
  if (gap.missing !== undefined) gap.missing -= 1;
  return true;
}
