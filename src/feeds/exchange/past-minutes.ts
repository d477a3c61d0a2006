import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import { waitAtMost } from "../../base/lib/time/wait-at-most.ts";
import type { Candle } from "../../base/market/index.ts";
import type { Filling } from "../../gateway/source/index.ts";
import { eventOf } from "./candle-buffer.ts";
import type { FollowedPair } from "./choose-pairs.ts";
import type { MinuteCandle } from "./venue.ts";
import type { VenueFollower } from "./venue-follower.ts";

/** Maximum wait for an exchange's past, because a slow one must not hold up the others. */
export const MAX_REQUEST_MS = 2 * MINUTE_MS;

interface PastMinutesOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly notify: Notify;
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

interface MarketRequest {
  /** Length of the requested past in milliseconds. */
  readonly spanMs: number;
  readonly markets: number;
  /** Pairs whose past is pending, and their tokens. */
  readonly left: Map<string, string>;
  readonly done: Promise<unknown>;
}

interface HeldBackToken {
  readonly minutes: Map<number, Candle>;
  /** Number of unfinished requests for the token's past. */
  requests: number;
}

/**
 * Requests tokens' past. Holds back their candles until the past has arrived or failed, then
 * returns both in order.
 */
export class PastMinutes {
  readonly #options: PastMinutesOptions;
  readonly #requests = new Set<MarketRequest>();
  readonly #heldBack = new Map<string, HeldBackToken>();
  #released: string[] = [];

  constructor(options: PastMinutesOptions) {
    this.#options = options;
  }

  /**
   * Progress of the pending requests: the longest one's span times the share of finished markets.
   */
  get filling(): Filling | undefined {
    const requests = [...this.#requests];
    if (requests.length === 0) return undefined;
    const ofMs = Math.max(...requests.map((one) => one.spanMs));
    const markets = requests.reduce((sum, one) => sum + one.markets, 0);
    const left = requests.reduce((sum, one) => sum + one.left.size, 0);
    return { readMs: Math.floor((ofMs * (markets - left)) / markets), ofMs };
  }

  /** Resolves when the requests so far are finished. */
  async filled(): Promise<void> {
    await Promise.all([...this.#requests].map(({ done }) => done));
  }

  /**
   * Requests markets' minutes, for at most {@link MAX_REQUEST_MS}. Offers each to `put`, and holds
   * it back if that returns false.
   */
  request(
    follower: Pick<VenueFollower, "name" | "fill">,
    markets: readonly FollowedPair[],
    span: Span,
    put: (pair: string, candle: MinuteCandle) => boolean,
  ): void {
    for (const { token } of markets) this.hold(token);
    const left = new Map(markets.map(({ pair, token }) => [pair, token]));
    const done = this.#request(follower, new Map(left), left, span, put)
      .catch(() => {})
      .finally(() => this.#requests.delete(request));
    const request = { spanMs: span.toMs - span.fromMs, markets: markets.length, left, done };
    this.#requests.add(request);
  }

  async #request(
    follower: Pick<VenueFollower, "name" | "fill">,
    tokens: ReadonlyMap<string, string>,
    left: Map<string, string>,
    { fromMs, toMs }: Span,
    put: (pair: string, candle: MinuteCandle) => boolean,
  ): Promise<void> {
    const { clock, signal, notify } = this.#options;
    const release = (pair: string) => {
      if (left.delete(pair)) this.release(tokens.get(pair) ?? "");
    };
    const onCandle = (pair: string, candle: MinuteCandle) => {
      if (!put(pair, candle) && Number(candle.volume) > 0) this.add(eventOf(tokens.get(pair) ?? "", candle));
    };
    const filling = follower.fill([...tokens.keys()], fromMs, toMs, onCandle, release);
    const waiting = waitAtMost(filling, MAX_REQUEST_MS, clock, signal).finally(() => {
      for (const pair of [...left.keys()]) release(pair);
    });
    const received = await waiting;
    const minutes = Math.floor((toMs - fromMs) / MINUTE_MS);
    notify(
      received === tokens.size ? "info" : "warn",
      `requested ${minutes} past minutes of ${tokens.size} markets on ${follower.name} and received ${
        received === undefined ? `not all within ${MAX_REQUEST_MS / 1_000} s` : `those of ${received}`
      }`,
    );
  }

  /** Holds back the token's candles until {@link release} has been called as often as this. */
  hold(token: string): void {
    const entry = this.#heldBack.get(token);
    if (entry) entry.requests += 1;
    else this.#heldBack.set(token, { minutes: new Map(), requests: 1 });
  }

  has(token: string): boolean {
    return this.#heldBack.has(token);
  }

  /** Adds a minute of a held-back token. Of two versions, the one with more volume stays. */
  add(candle: Candle): void {
    const minutes = this.#heldBack.get(candle.token)?.minutes;
    const previous = minutes?.get(candle.openAt);
    if (!previous || Number(candle.volume) > Number(previous.volume)) minutes?.set(candle.openAt, candle);
  }

  /** Makes the next {@link take} return the token's candles, unless another request is pending. */
  release(token: string): void {
    const entry = this.#heldBack.get(token);
    if (!entry) return;
    entry.requests -= 1;
    if (entry.requests === 0) this.#released.push(token);
  }

  /**
   * Returns the held-back minutes of released tokens, dated `atMs`, ordered by token and minute.
   * Holds these tokens back no longer.
   */
  take(atMs: number): readonly Candle[] {
    const tokens = this.#released.filter((token) => this.#heldBack.get(token)?.requests === 0).toSorted();
    this.#released = [];
    return tokens.flatMap((token) => {
      const minutes = [...(this.#heldBack.get(token)?.minutes.values() ?? [])];
      this.#heldBack.delete(token);
      return minutes.toSorted((a, b) => a.openAt - b.openAt).map((candle) => ({ ...candle, at: atMs }));
    });
  }
}
