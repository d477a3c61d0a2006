import type {
  LiquidityEvent,
  MarketEvent,
  MarketGroup,
  Trade,
  Window,
  WindowCounts,
} from "../../../src/base/market/index.ts";
import { MINUTE_MS } from "./series.ts";

/*
 * Computes an aggregator's reports from a market's single trades: each minute, counts of the pools
 * that trade most in each group.
 */

const SPANS = { m5: 5, h1: 60, h24: 1_440 } as const;
const DAY_MINUTES = 1_440;
const GROUPS: readonly MarketGroup[] = ["bsc", "matic", "avalanche"];

/** Turns trades and liquidity into an aggregator's reports. */
export class WindowBook {
  readonly #pools = new Map<string, PoolWindows>();
  readonly #listed: number;

  /**
   * `listed`: number of pools that the aggregator lists per group, those with the highest volume of
   * the last hour. Default 20, one page.
   */
  constructor(listed = 20) {
    this.#listed = listed;
  }

  /**
   * Records an event. Returns true if an aggregator does not report it: single trades, and
   * liquidity.
   */
  hides(event: MarketEvent): boolean {
    if (event.kind === "trade") this.#poolOf(event).trade(event);
    else if (event.kind === "liquidity" || event.kind === "listing") {
      this.#poolOf(event).usd = event.kind === "listing" ? event.liquidity : event.usd;
    }
    return event.kind === "trade" || event.kind === "liquidity";
  }

  /** Returns the reports at the whole minute `at`. */
  reports(at: number): readonly Window[] {
    const pools = [...this.#pools.values()];
    return GROUPS.flatMap((group) =>
      pools
        .filter((pool) => pool.group === group && pool.price !== "")
        .map((pool) => ({ pool, volume: pool.volume(at, SPANS.h1) }))
        .filter(({ volume }) => volume > 0)
        .toSorted((a, b) => b.volume - a.volume)
        .slice(0, this.#listed)
        .map(({ pool }) => pool.report(at)),
    );
  }

  #poolOf({
    group,
    pool,
    token,
    at,
  }: Trade | LiquidityEvent | Extract<MarketEvent, { kind: "listing" }>): PoolWindows {
    const known = this.#pools.get(pool);
    if (known) return known;
    const added = new PoolWindows(group, pool, token, at);
    this.#pools.set(pool, added);
    return added;
  }
}

/** One pool's last day, by minute. */
class PoolWindows {
  readonly group: MarketGroup;
  readonly #pool: string;
  readonly #token: string;
  readonly #createdAt: number;
  usd = "0";
  price = "";
  readonly #minutes = new Map<number, { buys: number; sells: number; usd: number; close: string }>();
  readonly #lastBuys = new Map<string, number>();
  readonly #lastSells = new Map<string, number>();

  constructor(group: MarketGroup, pool: string, token: string, createdAt: number) {
    this.group = group;
    this.#pool = pool;
    this.#token = token;
    this.#createdAt = createdAt;
  }

  trade({ at, side, trader = "", price, quoteUsd }: Trade): void {
    const minute = Math.floor(at / MINUTE_MS);
    const bucket = this.#minutes.get(minute) ?? { buys: 0, sells: 0, usd: 0, close: price };
    this.#minutes.set(minute, bucket);
    this.#minutes.delete(minute - DAY_MINUTES - 1);
    if (side === "buy") bucket.buys += 1;
    else bucket.sells += 1;
    bucket.usd += Number(quoteUsd);
    bucket.close = price;
    this.price = price;
    (side === "buy" ? this.#lastBuys : this.#lastSells).set(trader, at);
  }

  volume(at: number, minutes: number): number {
    return this.#within(at, minutes).reduce((sum, { usd }) => sum + usd, 0);
  }

  report(at: number): Window {
    return {
      ...{ kind: "window", at, group: this.group, pool: this.#pool, token: this.#token, price: this.price },
      past: { m5: this.#priceAt(at, 5), m30: this.#priceAt(at, 30), h1: this.#priceAt(at, 60) },
      liquidity: this.usd,
      createdAt: this.#createdAt,
      counts: {
        m5: this.#counts(at, SPANS.m5),
        h1: this.#counts(at, SPANS.h1),
        h24: this.#counts(at, SPANS.h24),
      },
    };
  }

  #counts(at: number, minutes: number): WindowCounts {
    const counts = { buys: 0, sells: 0, usd: 0 };
    for (const { buys, sells, usd } of this.#within(at, minutes)) {
      counts.buys += buys;
      counts.sells += sells;
      counts.usd += usd;
    }
    const fromMs = at - minutes * MINUTE_MS;
    const distinct = (last: ReadonlyMap<string, number>) =>
      [...last.values()].filter((lastAt) => lastAt >= fromMs && lastAt < at).length;
    return {
      ...counts,
      usd: counts.usd.toFixed(6),
      buyers: distinct(this.#lastBuys),
      sellers: distinct(this.#lastSells),
    };
  }

  #within(at: number, minutes: number) {
    const end = at / MINUTE_MS;
    const from = end - minutes;
    if (minutes <= 60) {
      return Array.from({ length: minutes }, (_, step) => this.#minutes.get(from + step)).filter(
        (one) => one !== undefined,
      );
    }
    return [...this.#minutes].filter(([minute]) => minute >= from && minute < end).map(([, one]) => one);
  }

  #priceAt(at: number, minutesAgo: number): string {
    const end = at / MINUTE_MS - minutesAgo;
    for (let minute = end - 1; minute > end - DAY_MINUTES; minute--) {
      const bucket = this.#minutes.get(minute);
      if (bucket) return bucket.close;
    }
    const [first] = this.#minutes.values();
    return first?.close ?? this.price;
  }
}
