import { formatDecimal } from "../../base/lib/text/figures.ts";
import { MINUTE_MS, startOf } from "../../base/lib/time/time.ts";
import { CANDLE_MINUTES, type Candle, type Candles, NO_CANDLES } from "../../base/model/index.ts";
import type { TokenState } from "../state/token-state.ts";
import { candlesWithin, type MinuteCandle } from "./candle-ring.ts";
import { toTimestamp } from "./flare-view.ts";

/** How long after a flare's start its candles are served at least, even if it ended before. */
const FOLLOW_MS = 120 * MINUTE_MS;

/** Serves candles of BSC's tokens that flare, or whose flare started within the last two hours. */
export class FlareCandles {
  readonly #tokens = new Set<TokenState>();
  /** End of the last closed minute. */
  #closedMs: number;
  #served: Candles = NO_CANDLES;
  #isDirty = true;

  /** @param stepMs Event time reached so far. */
  constructor(stepMs: number) {
    this.#closedMs = startOf(MINUTE_MS, stepMs);
  }

  get isDirty(): boolean {
    return this.#isDirty;
  }

  resume(token: TokenState): void {
    if (token.shownCandles) this.#tokens.add(token);
  }

  /** Serves the token's candles from the start of its flare at `atMs`. */
  start(token: TokenState, atMs: number): void {
    this.#closedMs = startOf(MINUTE_MS, atMs);
    token.shownCandles = { untilMs: atMs + FOLLOW_MS, list: token.shownCandles?.list ?? [] };
    this.#tokens.add(token);
    this.#show(token);
  }

  /** Shows the minute that ends at `atMs`. Stops serving tokens whose time is over. */
  closeMinute(atMs: number): void {
    this.#closedMs = atMs;
    for (const token of this.#tokens) {
      const isOver = atMs - MINUTE_MS > (token.shownCandles?.untilMs ?? 0) && token.flare === null;
      if (isOver) {
        token.shownCandles = null;
        this.#tokens.delete(token);
        this.#isDirty = true;
      } else this.#show(token);
    }
  }

  serve(): Candles {
    if (!this.#isDirty) return this.#served;
    this.#isDirty = false;
    const tokens = [...this.#tokens].sort((a, b) => (a.key < b.key ? -1 : 1));
    const bsc = Object.fromEntries(
      tokens.map(({ address, shownCandles }) => [address, shownCandles?.list ?? []]),
    );
    this.#served = tokens.length === 0 ? NO_CANDLES : { closed_at: toTimestamp(this.#closedMs), bsc };
    return this.#served;
  }

  /** Shows the closed minutes of the last hour. Unchanged candles are the same objects. */
  #show({ candles: ring, shownCandles: shown }: TokenState): void {
    this.#isDirty = true;
    if (!ring || !shown) return;
    const to = this.#closedMs / MINUTE_MS;
    const from = to - CANDLE_MINUTES;
    const changedFrom = Math.max(from, shown.list.length > 0 ? ring.changedFrom : from);
    const [since, until] = [toTimestamp(from * MINUTE_MS), toTimestamp(changedFrom * MINUTE_MS)];
    const unchanged = shown.list.filter(({ open_at }) => open_at >= since && open_at < until);
    shown.list = [...unchanged, ...candlesWithin(ring, changedFrom, to).map(viewCandle)];
    ring.changedFrom = to;
  }
}

function viewCandle({ minute, open, high, low, close, usd, buys, sells }: MinuteCandle): Candle {
  return {
    open_at: toTimestamp(minute * MINUTE_MS),
    open: priceText(open),
    high: priceText(high),
    low: priceText(low),
    close: priceText(close),
    volume: formatDecimal(usd),
    buys: Number.isNaN(buys) ? null : buys,
    sells: Number.isNaN(sells) ? null : sells,
  };
}

function priceText(price: number): string | null {
  return Number.isNaN(price) ? null : formatDecimal(price);
}
