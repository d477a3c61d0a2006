import { MINUTE_MS } from "../lib/time.ts";
import type { Candle, LiquidityEvent, ListingEvent, Profile, Trade } from "../market/index.ts";
import { recordInRing } from "./bucket-ring.ts";
import { noteRemoval } from "./canary.ts";
import { createCandleState } from "./candle-detector.ts";
import type { Detector } from "./detector.ts";
import type { EventNumbers } from "./event-reader.ts";
import type { NewestBook } from "./newest.ts";
import { findPool, liquidityOf, mayTradeIn, notePool } from "./pools.ts";
import type { PriorBook } from "./prior-book.ts";
import type { RejectReason } from "./rejection.ts";
import type { DetectorSettings } from "./settings.ts";
import type { TokenBook } from "./token-book.ts";
import type { ProfileBook } from "./token-profile.ts";
import { createFineRing, FINE_STEP_MS, notePrice, type TokenState } from "./token-state.ts";
import { addTrade, createTradeState, decayTrades, type TradeInput } from "./trade-detector.ts";

/** The books that events are entered into. */
export interface IntakeBooks {
  readonly settings: DetectorSettings;
  readonly tokens: TokenBook;
  readonly profiles: ProfileBook;
  readonly priors: PriorBook;
  readonly newest: NewestBook;
  readonly detector: Detector;
}

/**
 * Enters events that were read, and for which the clock has been brought up, into their tokens' states. Each method yields the token that it
 * touched, or why the event cannot be used.
 */
export class Intake {
  readonly #books: IntakeBooks;
  /** Reused, for a trade must not cost an allocation. */
  readonly #trade: TradeInput = { at: 0, isBuy: false, usd: 0, trader: "", price: null };

  constructor(books: IntakeBooks) {
    this.#books = books;
  }

  /** A trade sets the token's price unless it happened beside its deepest pool. */
  enterTrade(event: Trade, key: string, numbers: EventNumbers): TokenState | RejectReason {
    const { settings, detector } = this.#books;
    const token = this.#find(event, key);
    if (token.candle) return "mixed";
    if (!mayTradeIn(token, event.pool)) return "unknown-pool";
    const setsPrice = token.mainPool === "" || token.mainPool === event.pool || token.price === 0;
    const minute = Math.floor(event.at / MINUTE_MS);
    if (setsPrice) notePrice(token, numbers.price, event.price, minute);
    token.trades ??= this.#createTrades(token, event.at);
    noteMarket(token, event.at);
    const input = this.#trade;
    input.at = event.at;
    input.isBuy = event.side === "buy";
    input.usd = numbers.usd;
    input.trader = event.trader;
    input.price = setsPrice ? numbers.price : null;
    const rate = detector.rateOf(token);
    decayTrades(token.trades, event.at, rate, settings);
    addTrade(token.trades, input, rate, settings);
    const buys = input.isBuy ? 1 : 0;
    recordInRing(token.minutes, minute, token.price, buys, 1 - buys);
    if (token.fine)
      recordInRing(token.fine, Math.floor(event.at / FINE_STEP_MS), token.price, buys, 1 - buys);
    return token;
  }

  /** A candle waits for its minute's end, `nextMinuteMs`; one that is late amends the minute before. */
  enterCandle(
    event: Candle,
    key: string,
    numbers: EventNumbers,
    nextMinuteMs: number,
  ): TokenState | RejectReason {
    const isLate = event.at === nextMinuteMs - MINUTE_MS;
    if (!isLate && event.at !== nextMinuteMs) return "late";
    const token = this.#find(event, key);
    if (token.trades) return "mixed";
    token.candle ??= createCandleState(numbers.open, this.#books.settings);
    noteMarket(token, event.at);
    const candle = {
      close: numbers.price,
      volume: numbers.usd,
      buyShare: numbers.buyShare,
      text: event.close,
    };
    if (isLate) this.#books.detector.amendMinute(token, candle, event.at);
    else token.pending = candle;
    return token;
  }

  /** A listing is new on BSC unless its token has long traded elsewhere. */
  enterListing(event: ListingEvent, key: string, numbers: EventNumbers): TokenState | RejectReason {
    const { settings, newest } = this.#books;
    const token = this.#find(event, key);
    if ((findPool(token, event.pool)?.listedMs ?? -1) >= 0) return "duplicate";
    token.lastSeenMs = Math.max(token.lastSeenMs, event.at);
    notePool(token, event.pool, numbers.usd, event.liquidity).listedMs = event.at;
    const isKnown = token.firstMarketMs >= 0 && event.at - token.firstMarketMs >= settings.newestMs;
    if (event.group === "bsc" && !isKnown && !token.profile.quote) newest.add(token, event.pool, event.at);
    return token;
  }

  /** What lies in a pool; a removal by its makers counts against the token. */
  enterLiquidity(event: LiquidityEvent, key: string, numbers: EventNumbers): TokenState | RejectReason {
    const { settings, tokens } = this.#books;
    const known = tokens.find(event.group, event.token);
    const pool = known && findPool(known, event.pool);
    if (event.cause === "remove") {
      if (!known || !pool) return "unknown-pool";
      noteRemoval(
        known.canary,
        event.at,
        Math.max(0, pool.usd - numbers.usd),
        liquidityOf(known) ?? 0,
        settings,
      );
    }
    const token = known ?? this.#find(event, key);
    token.lastSeenMs = Math.max(token.lastSeenMs, event.at);
    notePool(token, event.pool, numbers.usd, event.usd);
    return token;
  }

  /** Facts of a token; kept also for one that never traded yet, which is then `undefined`. */
  enterProfile(event: Profile, key: string): TokenState | undefined {
    const profile = this.#books.profiles.learn(event, key);
    const token = this.#books.tokens.find(event.group, event.token);
    if (token) token.profile = profile;
    return token;
  }

  #find(event: Trade | Candle | ListingEvent | LiquidityEvent, key: string): TokenState {
    const { tokens, profiles } = this.#books;
    const { group } = event;
    return (
      tokens.find(group, event.token) ??
      tokens.create(group, event.token, event.at, profiles.find(group, key))
    );
  }

  #createTrades(token: TokenState, atMs: number) {
    const { settings, priors } = this.#books;
    if (token.group === "bsc") token.fine = createFineRing();
    const trades = createTradeState(atMs, token.price, settings);
    trades.priorRate = priors.rateOf(token.group, liquidityOf(token));
    return trades;
  }
}

function noteMarket(token: TokenState, atMs: number): void {
  token.events += 1;
  if (token.firstMarketMs < 0) token.firstMarketMs = atMs;
  token.lastMarketMs = Math.max(token.lastMarketMs, atMs);
  token.lastSeenMs = Math.max(token.lastSeenMs, atMs);
}
