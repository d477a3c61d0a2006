import type { Candle, MarketEvent, MarketGroup, Trade, Window } from "../../../src/base/market/index.ts";
import type { Feed, Filling } from "../../../src/gateway/source/feed.ts";

export const SECOND = 1_000;
export const START = Date.UTC(2026, 0, 1);

/** A feed that emits events when the test adds them. */
export class ToldFeed implements Feed {
  readonly name: string;
  readonly origin = "live";
  readonly facts = { trades: true, liquidity: true, listings: true, profiles: false };
  amiss: string | undefined;
  past: Filling | undefined;
  behind = 0;
  isOpen = false;
  #waiting: MarketEvent[] = [];
  #read = 0;
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = () => {};

  constructor(name: string) {
    this.name = name;
  }

  /** Number of events that the consumer has not read yet. */
  get unread(): number {
    return this.#waiting.length - this.#read;
  }

  readonly trouble = () => this.amiss;

  readonly filling = () => this.past;

  readonly behindMs = () => this.behind;

  tell(...events: readonly MarketEvent[]): void {
    this.#waiting.push(...events);
    this.#wake();
  }

  /** Emits the clocks of the seconds `from` to `to`, counted from START. */
  tick(from: number, to: number): void {
    for (let second = from; second <= to; second++) this.tell(clock(second));
  }

  end(error?: unknown): void {
    this.#end = error === undefined ? {} : { error };
    this.#wake();
  }

  async *events(signal: AbortSignal): AsyncGenerator<MarketEvent> {
    this.isOpen = true;
    const wake = () => this.#wake();
    signal.addEventListener("abort", wake, { once: true });
    try {
      while (!signal.aborted) {
        const event = this.#waiting[this.#read];
        if (event) {
          this.#read += 1;
          yield event;
        } else if (this.#end?.error !== undefined) throw this.#end.error;
        else if (this.#end) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      this.isOpen = false;
      signal.removeEventListener("abort", wake);
    }
  }
}

export function clock(second: number): MarketEvent {
  return { kind: "clock", at: START + second * SECOND };
}

export function trade(second: number, token = "0xaa", group: MarketGroup = "bsc"): Trade {
  const at = START + second * SECOND;
  const amounts = { price: "1", amount: "1", quoteUsd: "1" };
  return { kind: "trade", at, group, pool: "0xp", token, side: "buy", ...amounts, trader: "0xt" };
}

export function listing(second: number, token = "0xaa"): Extract<MarketEvent, { readonly kind: "listing" }> {
  const at = START + second * SECOND;
  return { kind: "listing", at, group: "bsc", pool: "0xp", token, liquidity: "1" };
}

export function candle(second: number, token = "BTC"): Candle {
  const at = START + second * SECOND;
  const prices = { open: "1", high: "1", low: "1", close: "1", volume: "1" };
  return { kind: "candle", at, openAt: at - 60 * SECOND, group: "exchange", token, ...prices };
}

/** Returns an aggregator's report. */
export function report(second: number): Window {
  const counts = { buys: 1, sells: 0, buyers: 1, sellers: 0, usd: "1" };
  return {
    kind: "window",
    at: START + second * SECOND,
    group: "bsc",
    pool: "0xp",
    token: "0xaa",
    price: "1",
    past: { m5: "1", m30: "1", h1: "1" },
    liquidity: "1",
    counts: { m5: counts, h1: counts, h24: counts },
  };
}
