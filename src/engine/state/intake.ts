import { MINUTE_MS, startOf } from "../../base/lib/time/time.ts";
import type {
  Candle,
  LiquidityEvent,
  ListingEvent,
  LocksEvent,
  Profile,
  TokenEvent,
  Trade,
  Window,
} from "../../base/market/index.ts";
import type { BuyerRatePriors } from "../detect/buyer-rate-priors.ts";
import type { Detector } from "../detect/detector.ts";
import { createCandleState } from "../detect/measures/candle-detector.ts";
import { addQuickTrade, createSecondsState } from "../detect/measures/seconds-detector.ts";
import {
  addPastPrice,
  addTrade,
  createTradeState,
  decayTrades,
  extendObservation,
  type TradeInput,
  type TradeState,
} from "../detect/measures/trade-detector.ts";
import {
  countsTradesOfUnknownDepth,
  findPool,
  liquidityOf,
  notePool,
  noteTradeInPool,
  noteVolume,
  offeredSince,
  type Pool,
  type PoolRole,
  priceDepthOf,
  roleOf,
  steadyUsd,
} from "../detect/pools.ts";
import type { DetectorSettings } from "../settings.ts";
import { addTradeToCandle, createCandleRing, setCandle } from "../views/candle-ring.ts";
import type { NewestListings } from "../views/newest-listings.ts";
import { applyReport } from "./apply-report.ts";
import { createRing, recordInRing, recordPast } from "./bucket-ring.ts";
import type { EventNumbers } from "./event-reader.ts";
import type { RejectReason } from "./rejection.ts";
import type { ProfileStore } from "./token-profile.ts";
import type { TokenRegistry } from "./token-registry.ts";
import { FINE_RING, FINE_STEP_MS, noteActivity, setPrice, type TokenState } from "./token-state.ts";

interface IntakeOptions {
  readonly settings: DetectorSettings;
  readonly tokens: TokenRegistry;
  readonly profiles: ProfileStore;
  readonly priors: BuyerRatePriors;
  readonly newest: NewestListings;
  readonly detector: Detector;
}

/** Applies validated events to their tokens' states. The caller has advanced the clock. */
export class Intake {
  readonly #options: IntakeOptions;
  /** Reused, because a trade must not allocate. */
  readonly #trade: TradeInput = {
    at: 0,
    isBuy: false,
    usd: 0,
    trader: "",
    ageMs: 0,
    price: null,
    isShallow: false,
  };

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /**
   * Applies the event. Returns the changed token, why the event is unusable, or `undefined` for
   * facts about an unknown token.
   *
   * @param nextMinuteMs End of the current minute.
   */
  enter(
    event: TokenEvent,
    numbers: EventNumbers,
    nextMinuteMs: number,
  ): TokenState | RejectReason | undefined {
    switch (event.kind) {
      case "trade":
        return this.#enterTrade(event, numbers);
      case "candle":
        return this.#enterCandle(event, numbers, nextMinuteMs);
      case "window":
        return this.#enterWindow(event, numbers);
      case "listing":
        return this.#enterListing(event, numbers);
      case "liquidity":
        return this.#enterLiquidity(event, numbers);
      case "locks":
        return this.#enterLocks(event);
      case "profile":
        return this.#enterProfile(event);
    }
  }

  /**
   * Applies a trade. It sets the token's price if it is the newest in the pool that sets the price,
   * or if no price is known yet. A trade that is too small to mean anything is rejected as `dust`.
   */
  #enterTrade(event: Trade, numbers: EventNumbers): TokenState | RejectReason {
    if (event.group === "exchange") return this.#enterQuickTrade(event, numbers);
    const { settings, detector, tokens } = this.#options;
    const existing = tokens.find(event.group, event.token);
    const pool = existing && findPool(existing, event.pool);
    // Only a wash trade can exceed the pool's liquidity.
    const usd = pool ? Math.min(numbers.usd, steadyUsd(pool, event.at)) : numbers.usd;
    if (usd < minTradeUsd(existing, pool, settings)) return "dust";
    const token = existing ?? this.#create(event);
    if (token.candle) return "mixed";
    if (!pool && !countsTradesOfUnknownDepth(token, event.pool)) return "unknown-pool";
    const { pool: name } = event;
    const at = tradedAtOf(event);
    const isPast = at < event.at;
    const unknownRole = token.mainPool === "" ? "price" : "other";
    const role = pool ? enterInPool(token, pool, usd, numbers.price, event) : unknownRole;
    const setsPrice = (role === "price" || token.price === 0) && at >= token.priceAtMs;
    const minute = Math.floor(at / MINUTE_MS);
    const { priceAtMs } = token;
    if (setsPrice) setPrice(token, pool, { at, pool: name, price: event.price }, numbers.price);
    token.trades ??= this.#createTrades(token, at);
    const { trades } = token;
    if (isPast && token.events === 0) trades.startMs = -1;
    else if (!isPast && trades.startMs < 0) {
      trades.startMs = at;
      trades.startPrice = trades.price;
      trades.startPriceAtMs = priceAtMs;
    }
    if (token.firstPool === "") token.firstPool = name;
    countEvent(token, event.at);
    noteActivity(token, at, minute);
    const input = this.#trade;
    input.at = at;
    input.isBuy = event.side === "buy";
    input.usd = usd;
    input.trader = event.trader ?? "";
    input.price = setsPrice ? numbers.price : null;
    input.isShallow = role === "shallow";
    const rate = detector.learningRate(token);
    decayTrades(trades, at, rate, settings);
    input.ageMs = isPast ? trades.atMs - at : 0;
    addTrade(trades, input, rate, settings);
    const isPriced = setsPrice || role === "price";
    if (token.group === "bsc") {
      token.candles ??= createCandleRing();
      addTradeToCandle(token.candles, at, isPriced ? numbers.price : null, usd, input.isBuy);
    }
    const buys = input.isBuy ? 1 : 0;
    if (isPast) {
      enterPastPrice(
        token,
        trades,
        { ...input, price: isPriced ? numbers.price : null, setsPrice },
        settings,
      );
      return token;
    }
    recordInRing(token.minutes, minute, token.price, buys, 1 - buys);
    if (token.fine)
      recordInRing(token.fine, Math.floor(event.at / FINE_STEP_MS), token.price, buys, 1 - buys);
    return token;
  }

  /** Applies a trade of the exchange, where a pair has one market and traders are unknown. */
  #enterQuickTrade(event: Trade, numbers: EventNumbers): TokenState {
    const { settings, tokens } = this.#options;
    const token = tokens.find(event.group, event.token) ?? this.#create(event);
    const at = tradedAtOf(event);
    const isBuy = event.side === "buy";
    const { price, usd: money } = numbers;
    token.seconds ??= createSecondsState(at);
    const { seconds } = token;
    token.fine ??= createRing(FINE_RING);
    const minute = Math.floor(at / MINUTE_MS);
    if (at >= token.priceAtMs)
      setPrice(token, undefined, { at, pool: event.pool, price: event.price }, price);
    countEvent(token, event.at);
    noteActivity(token, at, minute);
    const isNewOrder = addQuickTrade(seconds, { at, isBuy, price, money }, settings);
    const isOfMinute = minute === Math.floor(event.at / MINUTE_MS);
    if (isOfMinute) {
      seconds.volume += money;
      seconds.close = token.price;
      seconds.closeText = token.priceText;
    }
    const buys = isNewOrder && isBuy ? 1 : 0;
    const sells = isNewOrder && !isBuy ? 1 : 0;
    recordInRing(token.minutes, minute, token.price, buys, sells);
    recordInRing(token.fine, Math.floor(at / FINE_STEP_MS), token.price, buys, sells);
    return token;
  }

  /**
   * Applies a candle. One of the current minute, which ends at `nextMinuteMs`, takes effect when
   * the minute ends. A late one amends the previous minute. A past one takes effect now; it is
   * rejected as `late` unless it follows all known ones.
   */
  #enterCandle(event: Candle, numbers: EventNumbers, nextMinuteMs: number): TokenState | RejectReason {
    const { settings, detector } = this.#options;
    const minute = event.openAt / MINUTE_MS;
    const endMs = event.openAt + MINUTE_MS;
    const lastMinute = nextMinuteMs / MINUTE_MS - 2;
    const isPast = event.at > endMs;
    if (!isPast && minute < lastMinute) return "late";
    const token = this.#find(event);
    if (token.trades) return "mixed";
    const isFollowed = token.candleBefore !== null;
    const knownMinute = isFollowed ? lastMinute - token.silentMinutes : token.candleMinute;
    if (isPast && minute <= knownMinute) return "late";
    token.candle ??= createCandleState(numbers.open, settings);
    const before = token.candleMinute;
    token.candleMinute = Math.max(before, minute);
    countEvent(token, event.at);
    if (numbers.usd > 0) noteActivity(token, endMs, minute);
    const { open, price: close, usd } = numbers;
    const candle = { close, volume: usd, text: event.close };
    if (token.group === "bsc" && usd > 0) {
      token.candles ??= createCandleRing();
      const [buys, sells] = [Number.NaN, Number.NaN];
      const range = { open, high: Number(event.high), low: Number(event.low), close };
      setCandle(token.candles, { minute, ...range, usd, buys, sells });
    }
    if (endMs === nextMinuteMs) token.pending = candle;
    else if (isPast && !isFollowed) detector.fillMinute(token, candle, minute, before);
    else detector.amendMinute(token, candle, minute, lastMinute);
    return token;
  }

  /**
   * Applies an aggregator's report. It is rejected as `mixed` if the token has individual trades or
   * candles, and as `late` if the pool's known liquidity is newer.
   */
  #enterWindow(event: Window, numbers: EventNumbers): TokenState | RejectReason {
    const existing = this.#options.tokens.find(event.group, event.token);
    if (existing?.trades || existing?.candle) return "mixed";
    const token = existing ?? this.#create(event);
    return applyReport(token, event, numbers, this.#options.settings) ? token : "late";
  }

  /**
   * Applies a listing. On BSC it is added to the newest if it is recent and its token is neither a
   * quote token nor established ({@link isEstablished}). A pool's second listing is rejected.
   */
  #enterListing(event: ListingEvent, numbers: EventNumbers): TokenState | RejectReason {
    const { settings, newest } = this.#options;
    const token = this.#find(event);
    if ((findPool(token, event.pool)?.listedMs ?? -1) >= 0) return "duplicate";
    token.lastSeenMs = Math.max(token.lastSeenMs, event.at);
    const isNew = event.group === "bsc" && !token.profile.quote && !isEstablished(token, event, settings);
    const report = { atMs: event.at, usd: numbers.usd, usdText: event.liquidity, cause: "listing" } as const;
    const listedMs = Math.min(event.listedAt ?? event.at, event.at);
    notePool(token, event.pool, report, settings).listedMs = listedMs;
    if (isNew && event.at - listedMs < settings.newestMs) newest.add(token, event.pool, listedMs);
    return token;
  }

  /** Applies a change of a pool's liquidity. A removal from an unknown pool is rejected. */
  #enterLiquidity(event: LiquidityEvent, numbers: EventNumbers): TokenState | RejectReason {
    const { settings, tokens } = this.#options;
    const existing = tokens.find(event.group, event.token);
    if (event.cause === "remove" && !(existing && findPool(existing, event.pool))) return "unknown-pool";
    const token = existing ?? this.#create(event);
    token.lastSeenMs = Math.max(token.lastSeenMs, event.at);
    const report = { atMs: event.at, usd: numbers.usd, usdText: event.usd, cause: event.cause };
    notePool(token, event.pool, report, settings);
    return token;
  }

  /** Stores who holds a known pool's LP tokens. */
  #enterLocks({ group, token: name, pool: poolName, burned, held }: LocksEvent): TokenState | RejectReason {
    const token = this.#options.tokens.find(group, name);
    const pool = token && findPool(token, poolName);
    if (!pool) return "unknown-pool";
    pool.locks = { burned, held };
    return token;
  }

  /** Stores facts about a token. Returns `undefined` if the token is not known yet. */
  #enterProfile(event: Profile): TokenState | undefined {
    const { tokens, profiles } = this.#options;
    const key = tokens.keyOf(event.group, event.token) ?? event.token;
    const profile = profiles.learn(event, key);
    const token = tokens.find(event.group, event.token);
    if (token) token.profile = profile;
    return token;
  }

  #find(event: Candle | ListingEvent): TokenState {
    return this.#options.tokens.find(event.group, event.token) ?? this.#create(event);
  }

  #create({ group, token, at }: Trade | Candle | Window | ListingEvent | LiquidityEvent): TokenState {
    const { tokens, profiles } = this.#options;
    return tokens.create(group, token, at, profiles.find(group, tokens.keyOf(group, token) ?? token));
  }

  #createTrades(token: TokenState, atMs: number) {
    const { settings, priors } = this.#options;
    token.window = null;
    token.fine = createRing(FINE_RING);
    const trades = createTradeState(atMs, token.price, settings);
    trades.priorRate = priors.rateOf(token.group, liquidityOf(token));
    return trades;
  }
}

/** Adds the trade to its pool's volume. Returns the pool's role, which no past trade can change. */
function enterInPool(token: TokenState, pool: Pool, usd: number, price: number, event: Trade): PoolRole {
  const tradedAt = tradedAtOf(event);
  if (tradedAt === event.at) return noteTradeInPool(token, pool, usd, price, tradedAt);
  noteVolume(pool, usd, startOf(MINUTE_MS, tradedAt));
  return roleOf(token, pool, event.at);
}

function tradedAtOf({ at, tradedAt = at }: Trade): number {
  return Math.min(tradedAt, at);
}

/**
 * Adds a past trade to the rings, and its price to them and to the long average, up to the next
 * known price.
 */
function enterPastPrice(
  token: TokenState,
  trades: TradeState,
  { at, isBuy, usd, price, setsPrice }: TradeInput & { readonly setsPrice: boolean },
  settings: DetectorSettings,
): void {
  extendObservation(trades, at, settings);
  if (price !== null && !setsPrice)
    addPastPrice(trades, { at, price, inflowUsd: isBuy ? usd : -usd }, settings);
  const isKnown = price !== null && (setsPrice || trades.startPriceAtMs === at);
  const untilMs = setsPrice ? Number.POSITIVE_INFINITY : trades.startMs;
  const buys = isBuy ? 1 : 0;
  for (const [ring, stepMs] of [
    [token.minutes, MINUTE_MS],
    [token.fine, FINE_STEP_MS],
  ] as const) {
    const step = Math.floor(at / stepMs);
    const until = isKnown ? Math.floor(untilMs / stepMs) : step;
    if (ring) recordPast(ring, step, until, isKnown ? price : trades.startPrice, buys, 1 - buys);
  }
  // At the end of the current minute, the peak is then searched for in all stored minutes.
  token.peakMinute = -1;
}

function countEvent(token: TokenState, atMs: number): void {
  token.events += 1;
  token.lastSeenMs = Math.max(token.lastSeenMs, atMs);
}

/**
 * Returns the dollars below which a trade in the pool is dust. Dust may be a rounding error, and
 * thousands of such trades cost nothing.
 */
function minTradeUsd(
  token: TokenState | undefined,
  pool: Pool | undefined,
  settings: DetectorSettings,
): number {
  const isOfPricePool = pool !== undefined && token?.mainPool === pool.pool;
  const depth = isOfPricePool ? pool.usd : Math.max(pool?.usd ?? 0, (token && priceDepthOf(token)) ?? 0);
  return Math.max(settings.dustUsd, settings.dustShare * depth);
}

/**
 * Returns whether the token is too old for a new pool to be its listing. It is if it was created,
 * listed or traded at least `newestMs` ago. It also is if this engine never saw the listing of the
 * pool of its first trade, or of another pool of at least `chartLiquidityUsd`.
 */
function isEstablished(token: TokenState, { at, pool }: ListingEvent, settings: DetectorSettings): boolean {
  const isOld = (sinceMs: number | null) => sinceMs !== null && at - sinceMs >= settings.newestMs;
  const { createdAtMs, knownSinceMs } = token.profile;
  if (isOld(createdAtMs) || isOld(knownSinceMs) || isOld(offeredSince(token))) return true;
  const isOlder = (name: string) => name !== pool && (findPool(token, name)?.listedMs ?? -1) < 0;
  if (token.firstPool !== "" && isOlder(token.firstPool)) return true;
  return token.pools.some((other) => other.usd >= settings.chartLiquidityUsd && isOlder(other.pool));
}
