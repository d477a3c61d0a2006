import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { MINUTE_MS, SECOND_MS } from "../../base/lib/time/time.ts";
import type { ServiceReport } from "../../gateway/source/index.ts";
import { chunks } from "../chunks.ts";
import { ServiceClient } from "../service/service-client.ts";
import type { Listing } from "./choose-pairs.ts";
import {
  MESSAGES,
  type MinuteCandle,
  type Read,
  type StreamNews,
  type Venue,
  type VenueRequest,
  type VenueTrade,
} from "./venue.ts";
import { VenueSubscription } from "./venue-subscription.ts";
import { VenueTrades } from "./venue-trades.ts";

interface FollowerOptions {
  readonly venue: Venue;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onCandle: (pair: string, candle: MinuteCandle) => void;
  /** Called once with each trade. `isPast`: it was requested, because the stream had missed it. */
  readonly onTrade: (pair: string, trade: VenueTrade, isPast: boolean) => void;
  /**
   * Called after an interruption with the pairs that missed data, and since when, by the exchange's
   * clock.
   */
  readonly onGap: (pairs: readonly string[], sinceMs: number) => void;
  readonly notify: Notify;
}

/**
 * Without a candle or volume for this long, an exchange is down: busy markets have several per
 * second.
 */
const LIVE_MS = 10 * SECOND_MS;
const LIST_TRIES = 5;
/** Few, because waiting for one exchange's past delays the others too. */
const FILL_TRIES = 2;
const CONCURRENT_FILLS = 8;
/**
 * After this many unavailable pairs in a row, a fill ends: the cause is the exchange, not a
 * delisted pair.
 */
const MAX_MISSED = 3;
/** Window of the estimate of the exchange's clock. */
const TIME_WINDOW_MS = MINUTE_MS;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

interface HeldSubscription {
  readonly subscription: VenueSubscription;
  trouble: string | undefined;
  /** Monotonic time of its last news, or of its start. */
  heardAt: number;
  /** `heardAt` at the start of an interruption; `undefined` after it. */
  gapSince: number | undefined;
}

/** Follows one exchange: its lists, minutes, trades and streams, and whether it is live. */
export class VenueFollower {
  readonly name: Venue["name"];
  readonly #options: FollowerOptions;
  readonly #client: ServiceClient;
  readonly #trades: VenueTrades;
  readonly #subscriptions: HeldSubscription[] = [];
  /** Volumes from the stream, by pair. */
  readonly #streamed = new Map<string, number>();
  #newsAt = Number.NEGATIVE_INFINITY;
  #refusals = 0;
  /**
   * The exchange's clock minus the monotonic one, by the fastest message of this window and of the
   * one before.
   */
  #ahead = {
    sinceMono: Number.NEGATIVE_INFINITY,
    ms: Number.NEGATIVE_INFINITY,
    beforeMs: Number.NEGATIVE_INFINITY,
  };

  constructor(options: FollowerOptions) {
    const { venue, clock, random } = options;
    this.name = venue.name;
    this.#options = options;
    this.#client = new ServiceClient({
      clock,
      random,
      pauseMs: venue.pauseMs,
      quota: venue.quota,
      maxBytes: MAX_ANSWER_BYTES,
      onHealth: (trouble) =>
        trouble === undefined
          ? this.#notify("info", "responds again")
          : this.#notify("warn", `${trouble}; retrying later`),
    });
    this.#trades = new VenueTrades({
      venue,
      clock,
      signal: options.signal,
      onTrade: options.onTrade,
      nowMs: () => this.nowMs ?? clock.now(),
      ask: (request, read) => this.#read(request, read, FILL_TRIES),
      notify: (level, words) => this.#notify(level, words),
    });
  }

  get isLive(): boolean {
    return this.#options.clock.monotonic() - this.#newsAt <= LIVE_MS;
  }

  /** Its current problem, as the second half of a sentence; `undefined` if there is none. */
  get trouble(): string | undefined {
    return this.#fault ?? this.#trades.trouble ?? this.#client.complaint;
  }

  /** Why it is not up; `undefined` if it is. */
  get #fault(): string | undefined {
    const down = this.#subscriptions.filter((subscription) => subscription.trouble !== undefined);
    if (down[0] && down.length === this.#subscriptions.length) return down[0].trouble;
    if (this.#subscriptions.length > 0 && !this.isLive) return "sends nothing";
    if (down[0])
      return `${down.length} of ${this.#subscriptions.length} streams are down: ${down[0].trouble}`;
    return this.#client.trouble;
  }

  report(): ServiceReport {
    return this.#client.report("exchange", this.name, this.#fault);
  }

  /**
   * The exchange's time, from its fastest messages, whatever this machine's clock shows;
   * `undefined` before the first.
   */
  get nowMs(): number | undefined {
    const ms = Math.max(this.#ahead.ms, this.#ahead.beforeMs);
    return Number.isFinite(ms) ? this.#options.clock.monotonic() + ms : undefined;
  }

  /** Whether the last request succeeded, as far as known. */
  get isAnswering(): boolean {
    return this.#client.trouble === undefined;
  }

  /** Reports missed, lost and unusable trades, if there are any that were not reported. */
  reportTrades(): void {
    this.#trades.report();
  }

  /** Returns its markets; `undefined` if unavailable. Rejects only with the signal's reason. */
  async list(): Promise<Listing | undefined> {
    const { venue } = this.#options;
    const pairs = await this.#read(venue.pairs.request, venue.pairs.read);
    const volumes = pairs && (await this.#read(venue.volumes.request, venue.volumes.read));
    if (!pairs || !volumes) return undefined;
    return { venue: venue.name, pairs, volumes: new Map([...volumes, ...this.#streamed]) };
  }

  /** Returns a pair's minutes from `fromMs` to before `toMs`; `undefined` if unavailable. */
  async #minutes(pair: string, fromMs: number, toMs: number): Promise<readonly MinuteCandle[] | undefined> {
    const { candles } = this.#options.venue;
    const all: MinuteCandle[] = [];
    for (let at = fromMs; at < toMs; at += candles.maxMinutes * MINUTE_MS) {
      const end = Math.min(toMs, at + candles.maxMinutes * MINUTE_MS);
      const some = await this.#read(candles.request(pair, at, end), candles.read, FILL_TRIES);
      if (!some) return undefined;
      all.push(...some.filter(({ openAt }) => openAt >= at && openAt < end && openAt % MINUTE_MS === 0));
    }
    return all;
  }

  /**
   * Requests these pairs' minutes, until {@link MAX_MISSED} pairs fail in a row. Calls `onPair`
   * after each pair, also a failed one. Resolves with the number of pairs that succeeded.
   */
  async fill(
    pairs: readonly string[],
    fromMs: number,
    toMs: number,
    onCandle: (pair: string, candle: MinuteCandle) => void,
    onPair: (pair: string) => void,
  ): Promise<number> {
    const left = [...pairs];
    let received = 0;
    let missed = 0;
    const work = async () => {
      for (let pair = left.shift(); pair !== undefined && missed < MAX_MISSED; pair = left.shift()) {
        const minutes = await this.#minutes(pair, fromMs, toMs);
        missed = minutes ? 0 : missed + 1;
        received += minutes ? 1 : 0;
        for (const candle of minutes ?? []) onCandle(pair, candle);
        onPair(pair);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_FILLS }, work));
    return received;
  }

  /** Streams exactly these pairs from now on. */
  follow(wanted: ReadonlySet<string>): void {
    const { maxPairs } = this.#options.venue.stream;
    this.#trades.follow(wanted);
    const added = new Set(wanted);
    for (const { subscription } of this.#subscriptions) {
      for (const pair of subscription.pairs) added.delete(pair);
    }
    for (const { subscription } of this.#subscriptions) {
      const removed = [...subscription.pairs].filter((pair) => !wanted.has(pair));
      const room = maxPairs - subscription.pairs.size + removed.length;
      const here = [...added].slice(0, room);
      for (const pair of here) added.delete(pair);
      subscription.change(here, removed);
    }
    for (const pairs of chunks([...added], maxPairs)) this.#open(pairs);
  }

  #open(pairs: readonly string[]): void {
    const { venue, clock, random, signal, onGap } = this.#options;
    const onHealth = (trouble: string | undefined) => {
      if (trouble !== undefined) entry.gapSince ??= entry.heardAt;
      if (trouble !== undefined) this.#trades.interrupt(subscription.pairs);
      if (trouble !== undefined) this.#notify("warn", `${trouble}; reconnecting its stream`);
      else if (entry.trouble !== undefined) this.#notify("info", "stream is connected again");
      entry.trouble = trouble;
    };
    const subscription = new VenueSubscription(
      {
        venue,
        client: this.#client,
        clock,
        random,
        onHealth,
        onNews: (news) => {
          entry.heardAt = clock.monotonic();
          this.#take(news);
        },
        onReplaced: () => this.#trades.interrupt(subscription.pairs),
        onResumed: (resumed) => {
          const { gapSince = clock.monotonic() } = entry;
          entry.gapSince = undefined;
          onGap(resumed, (this.nowMs ?? clock.now()) - (clock.monotonic() - gapSince));
        },
      },
      pairs,
    );
    const heardAt = clock.monotonic();
    const entry: HeldSubscription = { subscription, trouble: undefined, heardAt, gapSince: undefined };
    this.#subscriptions.push(entry);
    void subscription.run(signal);
  }

  #take(news: StreamNews): void {
    const { onCandle } = this.#options;
    const { unread } = this.#client;
    // One message of an unknown kind is no complaint, as long as most are known.
    if (news.kind !== "unusable") unread.good(MESSAGES);
    switch (news.kind) {
      case "trade":
        unread.good("trades");
        // An impossible time must not move the clock by which the next trades are judged.
        this.#hear(this.#trades.take(news.pair, news.trade) ? news.sentAt : undefined);
        return;
      case "candle":
        unread.good("streamed candles");
        this.#hear(news.sentAt);
        if (news.candle.openAt % MINUTE_MS === 0) onCandle(news.pair, news.candle);
        return;
      case "volume":
        unread.good("streamed tickers");
        this.#hear(undefined);
        this.#streamed.set(news.pair, news.quoteVolume);
        return;
      case "unusable":
        unread.bad(news.what, news.reason);
        if (news.what === "trades") this.#trades.unusable += 1;
        return;
      case "refused":
        this.#refusals += 1;
        if (this.#refusals <= 5) this.#notify("warn", news.reason);
        return;
      case "welcome":
      case "ending":
    }
  }

  /** Notes that the exchange is live, and its time. */
  #hear(sentAt: number | undefined): void {
    this.#newsAt = this.#options.clock.monotonic();
    this.#client.heard();
    if (sentAt !== undefined) this.#noteTime(sentAt - this.#newsAt);
  }

  #noteTime(aheadMs: number): void {
    const mono = this.#options.clock.monotonic();
    const { sinceMono, ms } = this.#ahead;
    if (mono - sinceMono > TIME_WINDOW_MS) this.#ahead = { sinceMono: mono, ms: aheadMs, beforeMs: ms };
    else this.#ahead.ms = Math.max(ms, aheadMs);
  }

  async #read<T>(request: VenueRequest, read: Read<T>, tries = LIST_TRIES): Promise<T | undefined> {
    const outcome = await this.#client.ask({ ...request, read, tries }, this.#options.signal);
    return outcome.kind === "ok" ? outcome.value : undefined;
  }

  #notify(level: Parameters<Notify>[0], words: string): void {
    if (!this.#options.signal.aborted) this.#options.notify(level, `${this.name} ${words}`);
  }
}
