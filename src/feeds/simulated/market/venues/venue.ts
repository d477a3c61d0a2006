import { HOUR_MS, MINUTE_MS } from "../../../../base/lib/time/time.ts";
import type { LiquidityEvent, MarketEvent, MarketGroup, Trade } from "../../../../base/market/index.ts";
import { decimal, dollars } from "../decimal.ts";
import type { LpShares } from "../lp-locks.ts";
import type { Pool } from "./pool.ts";

/** Minimum relative change of liquidity to report with the trade that causes it. */
const REPORT_AT_ONCE = 0.05;
/** Minimum relative change of liquidity to report with the next minute. */
const REPORT_BY_MINUTE = 0.01;
/** After this long without a report, a consumer may have forgotten the pool's liquidity. */
const REMIND_AFTER_MS = 30 * MINUTE_MS;
/** After this long, a consumer may have forgotten who holds the LP tokens. */
const LOCKS_AGAIN_MS = HOUR_MS;
/** Minimum dollars of a trade by `buy` or `sell`. Anything smaller is dust. */
const MIN_USD = 0.01;

interface VenueNames {
  readonly group: MarketGroup;
  readonly pool: string;
  readonly token: string;
}

/**
 * Simulates a token's trading in one pool and creates the events. A trade's price includes the fee
 * and the trade's impact, so price × amount is its size. The parameter `quoteUsd` is the price of
 * the pool's quote token in dollars.
 */
export class Venue {
  readonly pool: Pool;
  #names: VenueNames;
  #reportedUsd = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #locks: LpShares | null = null;
  /** By which factor makers have changed the liquidity since then. */
  #scaled = 1;

  constructor(names: VenueNames, pool: Pool) {
    this.#names = names;
    this.pool = pool;
  }

  /** Lists a new pool and trades there from now on. */
  moveTo(at: number, pool: string, quoteUsd: number, out: MarketEvent[]): void {
    this.#names = { ...this.#names, pool };
    const liquidity = dollars(this.liquidityUsd(quoteUsd));
    out.push({ kind: "listing", at, ...this.#names, liquidity });
    this.report(at, quoteUsd, "sync", out);
    if (this.#locks) this.lock({ at, burned: 0, held: [] }, out);
  }

  /** Whether nobody can withdraw most of the liquidity. */
  get isLocked(): boolean {
    return this.#locks !== null && (this.#locks.burned > 0 || this.#locks.held.length > 0);
  }

  /** Reports who holds the LP tokens. Repeated with later reports of the liquidity. */
  lock(locks: LpShares, out: MarketEvent[]): void {
    this.#locks = locks;
    this.#scaled = 1;
    out.push({ kind: "locks", ...this.#names, ...locks });
  }

  /** Adds or removes liquidity that is not locked: multiplies it by `factor`. */
  scale(factor: number): void {
    this.pool.scale(factor);
    this.#scaled *= factor;
  }

  /** Returns a trade too small to move the pool. `distortion`: log of its price over the pool's. */
  dust(
    at: number,
    side: Trade["side"],
    usd: number,
    quoteUsd: number,
    distortion: number,
    trader: string,
  ): Trade {
    const price = this.pool.price * quoteUsd * Math.exp(distortion);
    return { ...this.#trade(at, side, usd, usd / price, trader), quoteUsd: decimal(usd, 6) };
  }

  liquidityUsd(quoteUsd: number): number {
    return 2 * this.pool.quote * quoteUsd;
  }

  /** Buys for this many dollars. Returns the tokens bought; 0 for dust, which is not traded. */
  buy(at: number, usd: number, quoteUsd: number, trader: string, out: MarketEvent[]): number {
    if (usd < MIN_USD) return 0;
    const tokens = this.pool.buy(usd / quoteUsd);
    out.push(this.#trade(at, "buy", usd, tokens, trader));
    return tokens;
  }

  /** Sells this many tokens, unless their value is dust. */
  sell(at: number, tokens: number, quoteUsd: number, trader: string, out: MarketEvent[]): void {
    if (tokens * this.pool.price * quoteUsd < MIN_USD) return;
    const usd = this.pool.sell(tokens) * quoteUsd;
    out.push(this.#trade(at, "sell", usd, tokens, trader));
  }

  /**
   * Reports the liquidity if the last report is old, so that consumers can tell the share of a
   * removal.
   */
  remind(at: number, quoteUsd: number, out: MarketEvent[]): void {
    if (at - this.#reportedAtMs >= REMIND_AFTER_MS) this.#emit(at, this.liquidityUsd(quoteUsd), "sync", out);
  }

  /**
   * Reports the liquidity: always if makers changed it (`add`, `remove`), otherwise as `sync` and
   * only if it changed enough.
   */
  report(at: number, quoteUsd: number, cause: LiquidityEvent["cause"] | "trade", out: MarketEvent[]): void {
    const usd = this.liquidityUsd(quoteUsd);
    const moved = Math.abs(usd / this.#reportedUsd - 1);
    if (cause === "trade" && moved < REPORT_AT_ONCE) return;
    if (cause === "sync" && moved < REPORT_BY_MINUTE) return;
    this.#emit(at, usd, cause === "trade" ? "sync" : cause, out);
  }

  #emit(at: number, usd: number, cause: LiquidityEvent["cause"], out: MarketEvent[]): void {
    this.#reportedUsd = usd;
    this.#reportedAtMs = at;
    const { group, pool, token } = this.#names;
    out.push({ kind: "liquidity", at, group, pool, token, usd: dollars(usd), cause });
    if (this.#locks && at - this.#locks.at >= LOCKS_AGAIN_MS) this.#lockAgain(at, this.#locks, out);
  }

  #lockAgain(at: number, { burned, held }: LpShares, out: MarketEvent[]): void {
    const now = (share: number) => Math.min(1, share / this.#scaled);
    const shares = held.map(({ share, until }) => ({ share: now(share), until }));
    this.lock({ at, burned: now(burned), held: shares }, out);
  }

  #trade(at: number, side: Trade["side"], usd: number, tokens: number, trader: string): Trade {
    const { group, pool, token } = this.#names;
    return {
      kind: "trade",
      at,
      group,
      pool,
      token,
      side,
      price: decimal(usd / tokens),
      amount: decimal(tokens),
      quoteUsd: dollars(usd),
      trader,
    };
  }
}
