import type { Clock } from "../../lib/time/clock.ts";
import { MINUTE_MS } from "../../lib/time/time.ts";
import type { ServiceReport } from "../feed.ts";
import { ServiceClient } from "../service/service-client.ts";
import type { Listing } from "./choose-pairs.ts";
import { chunks } from "./chunks.ts";
import { VenueSubscription } from "./stream-line.ts";
import type { MinuteCandle, StreamNews, Venue, VenueRequest } from "./venue.ts";

/** What a follower is made with. */
export interface FollowerOptions {
  readonly venue: Venue;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onCandle: (pair: string, candle: MinuteCandle) => void;
  /** A sentence for the log. */
  readonly onNotice: (sentence: string, isTrouble: boolean) => void;
}

/** Without any news for so long an exchange counts as down. The busiest markets have some each second. */
const LIVE_MS = 10_000;
const LIST_TRIES = 5;
/** Who waits for a back-fill waits for the other exchanges' market, too. */
const FILL_TRIES = 2;
/** Requests of a back-fill under way at once. */
const AT_ONCE = 8;
/** Pairs in a row of a back-fill that could not be had: then it is the exchange, and not a pair that was taken from its list. */
const MAX_MISSED = 3;
/** The best estimate of the exchange's clock is that of the last so many milliseconds. */
const TIME_WINDOW_MS = 60_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

interface HeldLine {
  readonly line: VenueSubscription;
  trouble: string | undefined;
}

/** Follows one exchange: asks for its lists and minutes, keeps its streams, and knows whether it is live. */
export class VenueFollower {
  readonly name: Venue["name"];
  readonly #options: FollowerOptions;
  readonly #client: ServiceClient;
  readonly #lines: HeldLine[] = [];
  readonly #streamed = new Map<string, number>();
  #newsAt = Number.NEGATIVE_INFINITY;
  #refusals = 0;
  /** The exchange's clock less our monotonic one, as the quickest message of this window and of the one before tells it. */
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
      ...{ clock, random, pauseMs: venue.pauseMs, quota: venue.quota, maxBytes: MAX_ANSWER_BYTES },
      onHealth: (trouble) =>
        trouble === undefined
          ? this.#notice("answers again", false)
          : this.#notice(`${trouble}; it is asked again later`, true),
    });
  }

  /** Whether news came within the last seconds. */
  get isLive(): boolean {
    return this.#options.clock.monotonic() - this.#newsAt <= LIVE_MS;
  }

  /** Why it is not as it should be, without the exchange's name; `undefined` while it is, and while nothing of it is followed. */
  get trouble(): string | undefined {
    const down = this.#lines.filter((line) => line.trouble !== undefined);
    if (down[0] && down.length === this.#lines.length) return down[0].trouble;
    if (this.#lines.length > 0 && !this.isLive) return "sends nothing";
    if (down[0]) return `${down.length} of ${this.#lines.length} streams are down: ${down[0].trouble}`;
    return this.#client.trouble;
  }

  /** How it fares, its streams included. */
  report(): ServiceReport {
    return this.#client.report("exchange", this.name, this.trouble);
  }

  /** The exchange's time now, in milliseconds since 1970, as its quickest messages tell it; `undefined` before the first. A wall clock that is wrong, or set, changes nothing. */
  get nowMs(): number | undefined {
    const ms = Math.max(this.#ahead.ms, this.#ahead.beforeMs);
    return Number.isFinite(ms) ? this.#options.clock.monotonic() + ms : undefined;
  }

  /** Whether it can be asked. */
  get answers(): boolean {
    return this.#client.trouble === undefined;
  }

  /** What is traded there; `undefined` where that cannot be had now. Rejects only with the signal's reason. */
  async list(): Promise<Listing | undefined> {
    const { venue } = this.#options;
    const pairs = await this.#read(venue.pairs.request, venue.pairs.read);
    const volumes = pairs && (await this.#read(venue.volumes.request, venue.volumes.read));
    if (!pairs || !volumes) return undefined;
    return { venue: venue.name, pairs, volumes: new Map([...volumes, ...this.#streamed]) };
  }

  /** The minutes of a pair that opened from `fromMs` to before `toMs`; `undefined` where they cannot be had. */
  async #minutes(pair: string, fromMs: number, toMs: number): Promise<readonly MinuteCandle[] | undefined> {
    const { candles } = this.#options.venue;
    const all: MinuteCandle[] = [];
    for (let at = fromMs; at < toMs; at += candles.most * MINUTE_MS) {
      const end = Math.min(toMs, at + candles.most * MINUTE_MS);
      const some = await this.#read(candles.request(pair, at, end), candles.read, FILL_TRIES);
      if (!some) return undefined;
      all.push(...some.filter(({ openAt }) => openAt >= at && openAt < end && openAt % MINUTE_MS === 0));
    }
    return all;
  }

  /** Passes on the minutes of all these pairs, to where the stream's go unless `onCandle` is given. Stops when some in a row cannot be had, since the others could not either; resolves with how many were had. */
  async fill(
    pairs: readonly string[],
    fromMs: number,
    toMs: number,
    onCandle = this.#options.onCandle,
  ): Promise<number> {
    const left = [...pairs];
    let had = 0;
    let missed = 0;
    const work = async () => {
      for (let pair = left.shift(); pair !== undefined && missed < MAX_MISSED; pair = left.shift()) {
        const minutes = await this.#minutes(pair, fromMs, toMs);
        missed = minutes ? 0 : missed + 1;
        had += minutes ? 1 : 0;
        for (const candle of minutes ?? []) onCandle(pair, candle);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return had;
  }

  /** Streams exactly these pairs from now on. */
  follow(wanted: ReadonlySet<string>): void {
    const { mostPairs } = this.#options.venue.stream;
    const added = new Set(wanted);
    for (const { line } of this.#lines) {
      for (const pair of line.pairs) added.delete(pair);
    }
    for (const { line } of this.#lines) {
      const removed = [...line.pairs].filter((pair) => !wanted.has(pair));
      const room = mostPairs - line.pairs.size + removed.length;
      const here = [...added].slice(0, room);
      for (const pair of here) added.delete(pair);
      line.change(here, removed);
    }
    for (const pairs of chunks([...added], mostPairs)) this.#open(pairs);
  }

  #open(pairs: readonly string[]): void {
    const { venue, clock, random, signal } = this.#options;
    const onHealth = (trouble: string | undefined) => {
      if (trouble !== undefined) this.#notice(`${trouble}; its stream is connected again`, true);
      else if (entry.trouble !== undefined) this.#notice("its stream stands again", false);
      entry.trouble = trouble;
    };
    const line = new VenueSubscription(
      {
        ...{ venue, client: this.#client, clock, random, onHealth },
        onNews: (news) => this.#take(news),
        onResumed: (resumed) => void this.#catchUp(resumed).catch(() => {}),
      },
      pairs,
    );
    const entry: HeldLine = { line, trouble: undefined };
    this.#lines.push(entry);
    void line.run(signal);
  }

  /** What a broken line may have missed: the minute that is over, and the running one. */
  async #catchUp(pairs: readonly string[]): Promise<void> {
    const now = this.nowMs ?? this.#options.clock.now();
    const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS;
    await this.fill(pairs, minute - MINUTE_MS, minute);
  }

  #take(news: StreamNews): void {
    const { clock, onCandle } = this.#options;
    if (news.kind === "refused") {
      this.#refusals += 1;
      if (this.#refusals <= 5) this.#notice(news.reason, true);
    }
    if (news.kind !== "candle" && news.kind !== "volume") return;
    this.#newsAt = clock.monotonic();
    this.#client.heard();
    if (news.kind === "volume") {
      this.#streamed.set(news.pair, news.quoteVolume);
      return;
    }
    if (news.sentAt !== undefined) this.#noteTime(news.sentAt - clock.monotonic());
    if (news.candle.openAt % MINUTE_MS === 0) onCandle(news.pair, news.candle);
  }

  #noteTime(aheadMs: number): void {
    const mono = this.#options.clock.monotonic();
    const { sinceMono, ms } = this.#ahead;
    if (mono - sinceMono > TIME_WINDOW_MS) this.#ahead = { sinceMono: mono, ms: aheadMs, beforeMs: ms };
    else this.#ahead.ms = Math.max(ms, aheadMs);
  }

  async #read<T>(
    request: VenueRequest,
    read: (body: unknown) => T,
    tries = LIST_TRIES,
  ): Promise<T | undefined> {
    const asked = await this.#client.ask({ ...request, read, tries }, this.#options.signal);
    return asked.kind === "told" ? asked.value : undefined;
  }

  #notice(sentence: string, isTrouble: boolean): void {
    if (!this.#options.signal.aborted) this.#options.onNotice(`${this.name} ${sentence}`, isTrouble);
  }
}
