import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS, startOf } from "../../base/lib/time/time.ts";
import { waitAtMost } from "../../base/lib/time/wait-at-most.ts";
import type { Candle, MarketEvent } from "../../base/market/index.ts";
import type { Feed } from "../../gateway/source/index.ts";
import { eventsOnce } from "../events-once.ts";
import { groupTroubles } from "../service/group-troubles.ts";
import { CandleBuffer } from "./candle-buffer.ts";
import { choosePairs, type FollowedPair, type Listing, unfitnessOf } from "./choose-pairs.ts";
import { MAX_REQUEST_MS, PastMinutes } from "./past-minutes.ts";
import { TradeBuffer } from "./trade-buffer.ts";
import type { MinuteCandle, Venue, VenueName, VenueTrade } from "./venue.ts";
import { VenueFollower } from "./venue-follower.ts";

export interface ExchangeFeedOptions {
  readonly venues: readonly Venue[];
  readonly quotes: readonly string[];
  readonly minVolume: number;
  /**
   * How much of a market's past is published before its present, in milliseconds. At most
   * {@link MAX_FILL_MS}.
   */
  readonly warmupMs: number;
  /**
   * Never waits for the past, neither at the start nor after an outage. Each market's past follows
   * as past candles. Meant for a market merged from several feeds, because the other feeds do not
   * wait. Default: the past comes first.
   */
  readonly startsAtPresent?: boolean;
  /**
   * Resumes after the `clock` event with this time, without warm-up. At most {@link MAX_FILL_MS}
   * ago.
   */
  readonly resumeAfterMs?: number;
  readonly clock: Clock;
  /** Returns [0, 1). Default `Math.random`. */
  readonly random?: () => number;
  readonly notify?: Notify;
}

/** Maximum past to request. The engine has no use for older candles. */
export const MAX_FILL_MS = 12 * HOUR_MS;

/**
 * Delay behind the exchanges' time, in which trades of all exchanges come into one order. A
 * minute's last candles may arrive later, and amend the minute.
 */
export const LAG_MS = 300;
/** A minute's last candles usually arrive within this time after its end. */
const SETTLED_MS = 3_000;
/** How long after a minute's end, in event time, the engine accepts an amendment. */
const AMEND_MS = 5_000;
const REFRESH_MS = 10 * MINUTE_MS;
/**
 * How long the start waits for all exchanges. Afterwards, one that has listed its markets suffices;
 * if none has, the wait is repeated.
 */
const PATIENCE_MS = 15_000;
const POLL_EVERY_MS = 100;
const MAX_TOKENS = 600;

/**
 * Follows exchanges as one feed: each token's trades and candles from one market (see choosePairs),
 * a fraction of a second late, by the exchanges' time. A market's past candles come first, even if
 * the market is chosen later.
 *
 * On exchanges, all money is in the pair's quote, also `quoteUsd` of a trade, as one unit of each
 * followed quote counts as a dollar. The traders are unknown, so the feed's facts have no trades.
 * A trade that the stream missed follows as a past trade.
 *
 * If an exchange is down, the others continue and {@link Feed.trouble} reports it. Its missed
 * minutes follow as past candles. While no exchange is live, event time pauses, and the missed
 * minutes follow afterwards. Ends only if its signal aborts, and never throws.
 */
export function createExchangeFeed(options: ExchangeFeedOptions): Feed {
  let run: ExchangeRun | undefined;
  return {
    name: "exchange",
    origin: "live",
    facts: { trades: false, liquidity: false, listings: false, profiles: false },
    trouble: () => run?.trouble,
    filling: () => run?.past.filling,
    services: () => run?.followers.map((follower) => follower.report()) ?? [],
    events: eventsOnce("the exchange feed", (signal) => {
      run = new ExchangeRun(options, signal);
      return run.events();
    }),
  };
}

class ExchangeRun {
  readonly followers: readonly VenueFollower[];
  /** Minutes of markets whose past is being requested. */
  readonly past: PastMinutes;
  readonly #options: ExchangeFeedOptions;
  readonly #signal: AbortSignal;
  readonly #candles = new CandleBuffer();
  readonly #trades = new TradeBuffer();
  readonly #listings = new Map<VenueName, Listing>();
  readonly #unfit = new Map<VenueName, string | undefined>();
  readonly #published = new Map<string, Candle>();
  readonly #introduced = new Map<string, FollowedPair>();
  #followed: ReadonlyMap<string, FollowedPair> = new Map();
  /** The followed markets by exchange and pair. */
  #markets: ReadonlyMap<string, FollowedPair> = new Map();
  #clockAt = 0;
  #tradeAt = 0;
  #isBehind = true;

  constructor(options: ExchangeFeedOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    const { clock, random = Math.random, notify = () => undefined } = options;
    this.past = new PastMinutes({ clock, signal, notify });
    this.followers = options.venues.map(
      (venue) =>
        new VenueFollower({
          venue,
          clock,
          random,
          signal,
          onCandle: (pair, candle) => this.#put(venue.name, pair, candle),
          onTrade: (pair, trade, isPast) => this.#putTrade(venue.name, pair, trade, isPast),
          onGap: (pairs, sinceMs) => this.#fillGap(venue.name, pairs, sinceMs),
          notify,
        }),
    );
  }

  /** Names what is wrong with exchanges. */
  get trouble(): string | undefined {
    return groupTroubles(
      this.followers.map(({ name, trouble }) => ({ name, trouble: trouble ?? this.#unfit.get(name) })),
    );
  }

  /** Time of the latest event. */
  get #latestAt(): number {
    return Math.max(this.#clockAt, this.#tradeAt);
  }

  get #isLive(): boolean {
    return this.followers.some(({ isLive }) => isLive);
  }

  async *events(): AsyncGenerator<MarketEvent> {
    const { clock, warmupMs, startsAtPresent = false, resumeAfterMs } = this.#options;
    await this.#start();
    while (!this.#isLive) await clock.sleep(POLL_EVERY_MS, this.#signal);
    const from = this.#nowMs() - (startsAtPresent ? 0 : warmupMs);
    this.#clockAt = startOf(SECOND_MS, resumeAfterMs ?? from);
    if (resumeAfterMs === undefined) {
      // Start at a whole minute, so that the first published minute is complete.
      this.#clockAt = startOf(MINUTE_MS, this.#clockAt);
      yield { kind: "clock", at: this.#clockAt };
      if (startsAtPresent) this.#fillChosen([...this.#followed.values()]);
    }
    while (!this.#signal.aborted) {
      yield* this.#advance();
      await clock.sleep(POLL_EVERY_MS, this.#signal);
    }
  }

  /** Publishes the due events; none while no exchange is live. */
  async *#advance(): AsyncGenerator<MarketEvent> {
    if (!this.#isLive) {
      this.#isBehind = true;
      return;
    }
    if (this.#isBehind) await this.#catchUp();
    const target = this.#nowMs() - LAG_MS;
    while (this.#clockAt + SECOND_MS <= target && !this.#signal.aborted) {
      yield* this.#pastCandles();
      const at = this.#clockAt + SECOND_MS;
      yield* this.#tradesBefore(at);
      if (at % MINUTE_MS === 0) yield* this.#minute(at);
      yield* this.#amendments();
      this.#clockAt = at;
      yield { kind: "clock", at };
    }
    yield* this.#pastCandles();
    yield* this.#amendments();
    yield* this.#tradesBefore(target);
  }

  *#tradesBefore(beforeMs: number): Generator<MarketEvent> {
    for (const trade of this.#trades.take(beforeMs, this.#latestAt)) {
      yield* this.#introduce(trade.token, trade.at);
      this.#tradeAt = Math.max(this.#tradeAt, trade.at);
      yield trade;
    }
  }

  *#minute(at: number): Generator<MarketEvent> {
    for (const candle of this.#candles.close(at - MINUTE_MS)) {
      if (this.past.has(candle.token)) this.past.add(candle);
      else yield* this.#publish(candle, at);
    }
  }

  /**
   * Emits the past candles that have arrived, if they are newer than their token's last published
   * one.
   */
  *#pastCandles(): Generator<MarketEvent> {
    const at = this.#latestAt;
    for (const candle of this.past.take(at)) {
      const last = this.#published.get(candle.token);
      if (!last || candle.openAt > last.openAt) yield* this.#publish(candle, at);
      else if (candle.openAt === last.openAt && candle.volume !== last.volume) this.#candles.late += 1;
    }
  }

  *#publish(candle: Candle, at: number): Generator<MarketEvent> {
    yield* this.#introduce(candle.token, at);
    this.#published.set(candle.token, candle);
    yield candle;
  }

  /** Emits the token's profile if it is new, or if its market changed. */
  *#introduce(token: string, at: number): Generator<MarketEvent> {
    const market = this.#followed.get(token);
    const was = this.#introduced.get(token);
    if (market && (market.venue !== was?.venue || market.pair !== was.pair)) {
      this.#introduced.set(token, market);
      const unified = { exchange: market.venue, pair: `${token}/${market.quote}` };
      yield { kind: "profile", at, group: "exchange", token, symbol: token, market: unified };
    } else if (!was && !this.#published.has(token))
      yield { kind: "profile", at, group: "exchange", token, symbol: token };
  }

  *#amendments(): Generator<MarketEvent> {
    for (const candle of this.#candles.amendments()) {
      if (this.past.has(candle.token)) this.past.add(candle);
      else if (candle.at >= this.#latestAt - AMEND_MS) yield candle;
    }
  }

  /**
   * Requests the unpublished minutes of the markets of responding exchanges. Then waits for these
   * and all earlier requests, for at most {@link MAX_REQUEST_MS}, unless `startsAtPresent`. If the
   * feed is far behind, first skips event time to {@link MAX_FILL_MS} ago.
   */
  async #catchUp(): Promise<void> {
    const { clock, startsAtPresent = false, notify } = this.#options;
    const nowMs = this.#nowMs();
    if (nowMs - this.#clockAt > MAX_FILL_MS + HOUR_MS) {
      this.#clockAt = startOf(MINUTE_MS, nowMs - MAX_FILL_MS);
      notify?.("warn", "catching up at most twelve hours; older minutes are lost");
    }
    this.#isBehind = false;
    const fromMs = this.#unpublishedMs();
    const venues = this.followers.flatMap((follower) => (follower.isAnswering ? [follower.name] : []));
    const isMissing = ({ venue, token }: FollowedPair) => venues.includes(venue) && !this.past.has(token);
    if (fromMs < startOf(MINUTE_MS, nowMs))
      this.#fill([...this.#followed.values()].filter(isMissing), fromMs);
    if (startsAtPresent) return;
    await waitAtMost(this.past.filled(), MAX_REQUEST_MS, clock, this.#signal);
  }

  /** Requests the past of newly followed markets. */
  #fillChosen(chosen: readonly FollowedPair[]): void {
    this.#fill(chosen, startOf(MINUTE_MS, this.#nowMs() - Math.min(this.#options.warmupMs, MAX_FILL_MS)));
  }

  /** Requests the minutes that markets missed while their exchange's stream was interrupted. */
  #fillGap(venue: VenueName, pairs: readonly string[], sinceMs: number): void {
    // Before the first clock, nothing was published.
    const fromMs = Math.min(this.#unpublishedMs(), startOf(MINUTE_MS, sinceMs - SETTLED_MS));
    if (this.#clockAt === 0 || fromMs >= startOf(MINUTE_MS, this.#nowMs())) return;
    const missed = [...this.#followed.values()].filter(
      (one) => one.venue === venue && pairs.includes(one.pair),
    );
    this.#fill(missed, Math.max(fromMs, startOf(MINUTE_MS, this.#nowMs() - MAX_FILL_MS)));
  }

  #fill(markets: readonly FollowedPair[], fromMs: number): void {
    const toMs = startOf(SECOND_MS, this.#nowMs());
    for (const follower of this.followers) {
      const some = markets.filter(({ venue }) => venue === follower.name);
      const put = (pair: string, candle: MinuteCandle) => {
        if (candle.openAt < this.#unpublishedMs()) return false;
        this.#put(follower.name, pair, candle);
        return true;
      };
      if (some.length > 0) this.past.request(follower, some, { fromMs, toMs }, put);
    }
  }

  /** Start of the earliest minute that has not been published yet. */
  #unpublishedMs(): number {
    return startOf(MINUTE_MS, this.#clockAt);
  }

  /**
   * Resolves when all exchanges have listed their markets, or at least one has and the others took
   * longer than {@link PATIENCE_MS}.
   */
  async #start(): Promise<void> {
    const { clock } = this.#options;
    const answered = this.followers.map((follower) => this.#followLists(follower));
    const over = new AbortController();
    const until = AbortSignal.any([this.#signal, over.signal]);
    const patience = async () => {
      do await clock.sleep(PATIENCE_MS, until);
      while (this.#listings.size === 0);
    };
    try {
      await Promise.race([Promise.all(answered), patience()]);
    } finally {
      over.abort();
    }
    this.#signal.throwIfAborted();
  }

  /**
   * Requests an exchange's lists at intervals until the signal aborts. Resolves after the first
   * listing.
   */
  #followLists(follower: VenueFollower): Promise<void> {
    const { clock } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = async () => {
      while (!this.#signal.aborted) {
        const listing = await follower.list();
        if (listing) {
          this.#listings.set(listing.venue, listing);
          this.#choose(listing.venue);
          resolve();
        } else {
          // An exchange that is down keeps its followed markets.
          this.#listings.delete(follower.name);
        }
        this.#reportLate();
        await clock.sleep(listing ? REFRESH_MS : SECOND_MS, this.#signal);
      }
    };
    void work().catch(() => {});
    return promise;
  }

  #choose(answered: VenueName): void {
    const { quotes, minVolume } = this.#options;
    const choice = { quotes, minVolume, maxTokens: MAX_TOKENS };
    const before = this.#followed;
    const listings = [...this.#listings.values()];
    for (const listing of listings) this.#unfit.set(listing.venue, unfitnessOf(listing, choice));
    this.#followed = choosePairs(listings, before, choice);
    this.#markets = new Map([...this.#followed.values()].map((one) => [`${one.venue}/${one.pair}`, one]));
    for (const follower of this.followers) {
      const own = [...this.#followed.values()].filter(({ venue }) => venue === follower.name);
      follower.follow(new Set(own.map(({ pair }) => pair)));
    }
    const added = [...this.#followed.values()].filter(({ token }) => !before.has(token));
    const removed = [...before.keys()].filter((token) => !this.#followed.has(token)).length;
    const isLater = this.#clockAt > 0 && added.length > 0;
    // While the feed is behind, it requests the past of all markets later.
    if (isLater && !this.#isBehind) this.#fillChosen(added);
    if (added.length + removed > 0)
      this.#options.notify?.(
        "info",
        `${answered} listed its markets; following ${this.#followed.size} tokens, ${added.length} new, ${removed} removed`,
      );
  }

  #put(venue: VenueName, pair: string, candle: MinuteCandle): void {
    const token = this.#markets.get(`${venue}/${pair}`)?.token;
    // A minute in the future is the exchange's error, and would stay in the buffer until then.
    if (token === undefined || candle.openAt > this.#nowMs() + MINUTE_MS) return;
    this.#candles.put(token, candle);
  }

  #putTrade(venue: VenueName, pair: string, trade: VenueTrade, isPast: boolean): void {
    const market = this.#markets.get(`${venue}/${pair}`);
    if (market) this.#trades.put(market, trade, isPast, this.#nowMs());
  }

  #reportLate(): void {
    for (const follower of this.followers) follower.reportTrades();
    const { late } = this.#candles;
    const { dropped } = this.#trades;
    this.#candles.late = 0;
    this.#trades.dropped = 0;
    const warn = (words: string) => this.#options.notify?.("warn", words);
    if (late > 0) warn(`${late} candles arrived too late to amend their published minute`);
    if (dropped > 0) warn(`${dropped} trades were dropped because they are not processed fast enough`);
  }

  /**
   * Returns the median of the exchanges' times (of two, the earlier); this machine's time before
   * any has one.
   */
  #nowMs(): number {
    const times = this.followers
      .flatMap(({ nowMs }) => (nowMs === undefined ? [] : [nowMs]))
      .toSorted((a, b) => a - b);
    return times[Math.floor((times.length - 1) / 2)] ?? this.#options.clock.now();
  }
}
