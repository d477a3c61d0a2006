import type { LiquidityEvent, ListingEvent, MarketEvent, Trade } from "../../../src/base/market/index.ts";
import type { FinishCause, Outcome } from "../../../src/base/model/index.ts";
import { HOUR, MINUTE, SECOND } from "../trend-kit.ts";

/*
 * Computes outcomes by their definition, each from all events of the market. Every token has one
 * pool and single trades, which all count.
 */

/** A finished flare, as of the moment at which its outcome is served. */
export interface Episode {
  readonly token: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly cause: FinishCause;
  readonly asOfMs: number;
  /** The score that the detector published at the start. */
  readonly score: number;
  /** Returns for how many milliseconds the canary has been on; 0 if it is off. */
  readonly canaryAgeMs: (atMs: number) => number;
}

export class SlowMarket {
  readonly #trades: ReadonlyMap<string, readonly Trade[]>;
  readonly #liquidity: ReadonlyMap<string, readonly LiquidityEvent[]>;
  readonly #listings: ReadonlyMap<string, readonly ListingEvent[]>;
  readonly #heard: readonly number[];

  constructor(events: readonly MarketEvent[]) {
    const trades = events.filter((event) => event.kind === "trade");
    this.#trades = Map.groupBy(trades, ({ token }) => token);
    this.#liquidity = Map.groupBy(
      events.filter((event) => event.kind === "liquidity"),
      ({ token }) => token,
    );
    this.#listings = Map.groupBy(
      events.filter((event) => event.kind === "listing"),
      ({ token }) => token,
    );
    this.#heard = trades.map(({ at }) => at);
  }

  outcomeOf(episode: Episode): Outcome {
    const { token, startMs, endMs, cause, asOfMs } = episode;
    const start = this.#known(token, startMs);
    const change = (minutes: number) => {
      const atMs = startMs + minutes * MINUTE;
      const then = atMs <= asOfMs ? this.#known(token, atMs) : undefined;
      if (!start || !then) return { raw: null, relative: null };
      const ratio = Number(then.price) / Number(start.price);
      const median = this.#medianRatio(minutes, atMs);
      return { raw: percent(ratio - 1), relative: median === undefined ? null : percent(ratio - median) };
    };
    const changeTo = (trade: Trade | undefined) =>
      start && trade ? percent(Number(trade.price) / Number(start.price) - 1) : null;
    const [in5, in15, in60] = [change(5), change(15), change(60)];
    const peak = this.#peaks(episode).at(-1);
    const end = this.#known(token, endMs);
    const collapse = this.#collapse(episode);
    return {
      start_price: start?.price ?? null,
      peak_price: peak?.trade.price ?? null,
      peak_at: peak ? new Date(peak.atMs).toISOString() : null,
      peak_change: changeTo(peak?.trade),
      end_price: end?.price ?? null,
      end_change: changeTo(end),
      change_5m: in5.raw,
      change_15m: in15.raw,
      change_60m: in60.raw,
      relative_change_5m: in5.relative,
      relative_change_15m: in15.relative,
      relative_change_60m: in60.relative,
      ended_by: cause,
      collapsed_at: collapse === undefined ? null : new Date(collapse).toISOString(),
      collapse_warning_s: collapse === undefined ? null : Math.floor(episode.canaryAgeMs(collapse) / SECOND),
      final: asOfMs >= startMs + 60 * MINUTE,
      start_score: episode.score,
      start_liquidity: this.#liquidityAt(token, startMs),
      control: this.controlOf(token, startMs),
    };
  }

  /** Returns the changes after the token's control moments of the day before. */
  controlOf(token: string, startMs: number): NonNullable<Outcome["control"]> {
    const firstMs = Math.min(...[...this.#trades.values()].map(([first]) => first?.at ?? 0));
    const moments: number[] = [];
    for (let slot = Math.floor(firstMs / (2 * HOUR)); slot * 2 * HOUR <= startMs; slot++) {
      const atMs = slot * 2 * HOUR + (fnv(`${slot} ${token}`) % 120) * MINUTE;
      const ageMs = startMs - atMs;
      const isSeen = (this.#trades.get(token)?.[0]?.at ?? atMs) < atMs;
      if (isSeen && ageMs >= 90 * MINUTE && ageMs <= 24 * HOUR) moments.push(atMs);
    }
    const changes = (minutes: number) =>
      moments.flatMap((atMs) => {
        const [from, to] = [this.#known(token, atMs), this.#known(token, atMs + minutes * MINUTE)];
        return from && to ? [percent(Number(to.price) / Number(from.price) - 1)] : [];
      });
    return { change_5m: changes(5), change_15m: changes(15), change_60m: changes(60) };
  }

  #liquidityAt(token: string, atMs: number): string | null {
    const { usd } = this.#liquidity.get(token)?.findLast(({ at }) => at < atMs) ?? {};
    return usd ?? this.#listings.get(token)?.[0]?.liquidity ?? null;
  }

  #before(token: string, atMs: number): Trade | undefined {
    return this.#trades.get(token)?.findLast(({ at }) => at < atMs);
  }

  /** Returns the last trade before a moment, unless it is old or the whole feed is silent. */
  #known(token: string, atMs: number): Trade | undefined {
    const trade = this.#before(token, atMs);
    return trade && atMs - trade.at <= 3 * MINUTE && !this.#isSilent(atMs) ? trade : undefined;
  }

  /** Returns whether no token traded for a minute and for twenty usual gaps. */
  #isSilent(atMs: number): boolean {
    let [last, gap] = [this.#heard[0] ?? 0, MINUTE];
    const isLong = (ms: number) => ms > Math.max(MINUTE, 20 * gap);
    for (const at of this.#heard) {
      if (at >= atMs) break;
      if (at > last && !isLong(at - last)) gap += (at - last - gap) * 0.05;
      last = at;
    }
    return isLong(atMs - last);
  }

  /** Returns the highest price so far at each moment of measurement, in order. */
  #peaks({ token, startMs, endMs, asOfMs }: Episode) {
    const moments = new Set([startMs, endMs, ...[5, 15, 60].map((minutes) => startMs + minutes * MINUTE)]);
    const nextMinute = (Math.floor(startMs / MINUTE) + 1) * MINUTE;
    for (let atMs = nextMinute; atMs <= asOfMs; atMs += MINUTE) moments.add(atMs);
    const peaks: { readonly trade: Trade; readonly atMs: number }[] = [];
    for (const atMs of [...moments].filter((at) => at <= asOfMs).sort((a, b) => a - b)) {
      const trade = this.#known(token, atMs);
      if (trade && Number(trade.price) > Number(peaks.at(-1)?.trade.price ?? 0)) peaks.push({ trade, atMs });
    }
    return peaks;
  }

  /** Returns the first second at half of the peak or less, if that lasts to the minute's end. */
  #collapse(episode: Episode): number | undefined {
    const { token, startMs, asOfMs } = episode;
    const peaks = this.#peaks(episode);
    let since: number | undefined;
    for (let atMs = startMs + SECOND; atMs <= asOfMs; atMs += SECOND) {
      const peak = peaks.findLast((one) => one.atMs < atMs)?.trade.price;
      const price = this.#before(token, atMs)?.price;
      const isLow = peak !== undefined && Number(price) <= Number(peak) / 2;
      since = isLow ? (since ?? atMs) : undefined;
      if (since !== undefined && atMs % MINUTE === 0) return since;
    }
    return undefined;
  }

  #medianRatio(minutes: number, atMs: number): number | undefined {
    const minute = Math.floor(atMs / MINUTE);
    const ratios = [...this.#trades.keys()].flatMap((token) => {
      const now = this.#before(token, minute * MINUTE);
      const then = this.#before(token, (minute - minutes) * MINUTE);
      return now && then && this.#isTrading(token, atMs) && this.#isDeep(token, atMs)
        ? [Number(now.price) / Number(then.price)]
        : [];
    });
    ratios.sort((a, b) => a - b);
    const [low = 0, high = 0] = [ratios[(ratios.length - 1) >> 1], ratios[ratios.length >> 1]];
    return ratios.length < 5 ? undefined : (low + high) / 2;
  }

  /** Returns whether the token traded in three of the ten minutes before. */
  #isTrading(token: string, atMs: number): boolean {
    const last = Math.floor((atMs - 1) / MINUTE);
    const minutes = this.#trades.get(token)?.filter(({ at }) => at < atMs) ?? [];
    const active = new Set(minutes.map(({ at }) => Math.floor(at / MINUTE)));
    return [...active].filter((minute) => minute > last - 10).length >= 3;
  }

  #isDeep(token: string, atMs: number): boolean {
    const report = this.#liquidity.get(token)?.findLast(({ at }) => at < atMs);
    return report === undefined || Number(report.usd) >= 5_000;
  }
}

function fnv(text: string): number {
  let hash = 2_166_136_261n;
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * 16_777_619n) % 4_294_967_296n;
  return Number(hash);
}

function percent(share: number): number {
  const rounded = Math.round(share * 10_000) / 100;
  return rounded === 0 ? 0 : rounded;
}
