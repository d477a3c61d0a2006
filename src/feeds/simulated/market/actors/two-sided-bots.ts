import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../base/lib/time/time.ts";
import type { MarketEvent } from "../../../../base/market/index.ts";
import type { ChainToken } from "../chain-token.ts";
import type { Random } from "../random.ts";
import { TokenActor } from "./token-actor.ts";

/** A trade's share of the pool's quote: median, deviation of its logarithm, and maximum. */
const SHARE = { median: 0.001, spread: 0.7, max: 0.006 };
/**
 * Time between the two sides. On a real pool, a quarter of such pairs took less than five minutes,
 * and half less than fifteen.
 */
const MAKER_LAG = { median: 8 * MINUTE_MS, spread: 1.2, max: 2 * HOUR_MS };
/** An arbitrage bot closes its other side within the next blocks. */
const ARBITRAGE_LAG_MS = [1, 6 * SECOND_MS] as const;
const ARBITRAGE_CHANCE = 0.25;
/** While its other side would be a larger share of the pool, as during a migration, a bot waits. */
const MOST_SHARE = 0.02;
const WAIT_MS = MINUTE_MS;

export interface TwoSidedTraits {
  /** Number of wallets, which trade nothing else. */
  readonly wallets: number;
  /** Mean trades per minute, whatever the other traders do. */
  readonly perMinute: number;
}

/** The second side of a trade, due later. */
interface Return {
  readonly atMs: number;
  readonly side: "buy" | "sell";
  readonly usd: number;
  readonly wallet: string;
}

/**
 * Market makers and arbitrage bots of one token. Each trade is followed by one of the same wallet
 * and the same dollars in the other direction, so they never move the price for long. Their trades
 * hide the surplus of purchases from anyone who only counts.
 */
export class TwoSidedBots extends TokenActor {
  readonly #wallets: readonly string[];
  readonly #meanMs: number;
  /** In the order of time. */
  readonly #returns: Return[] = [];
  #nextOpeningMs: number;

  constructor(token: ChainToken, traits: TwoSidedTraits, rank: number, nowMs: number, random: Random) {
    super(token, rank, nowMs, random, MINUTE_MS);
    this.#wallets = Array.from({ length: traits.wallets }, () => random.address());
    this.#meanMs = (2 * MINUTE_MS) / traits.perMinute;
    this.#nextOpeningMs = this.#opening(nowMs);
    this.schedule(this.#nextOpeningMs);
  }

  protected perform(now: number, out: MarketEvent[]): number {
    const due = this.#returns[0];
    if (due && due.atMs <= now) {
      this.#returns.shift();
      if (due.usd > MOST_SHARE * this.#quoteUsd) this.#later({ ...due, atMs: now + WAIT_MS });
      else this.#trade(now, due, out);
    } else {
      this.#open(now, out);
      this.#nextOpeningMs = this.#opening(now);
    }
    return Math.max(now, Math.min(this.#nextOpeningMs, this.#returns[0]?.atMs ?? Number.POSITIVE_INFINITY));
  }

  #open(now: number, out: MarketEvent[]): void {
    const random = this.random;
    const side = random.chance(0.5) ? "buy" : "sell";
    const share = Math.min(SHARE.max, random.logNormal(SHARE.median, SHARE.spread));
    const usd = this.#quoteUsd * share;
    const wallet = random.pick(this.#wallets);
    this.#trade(now, { side, usd, wallet }, out);
    const lagMs = random.chance(ARBITRAGE_CHANCE)
      ? random.between(...ARBITRAGE_LAG_MS)
      : Math.min(MAKER_LAG.max, random.logNormal(MAKER_LAG.median, MAKER_LAG.spread));
    this.#later({ atMs: Math.ceil(now + lagMs), side: side === "buy" ? "sell" : "buy", usd, wallet });
  }

  #later(one: Return): void {
    const index = this.#returns.findLastIndex(({ atMs }) => atMs <= one.atMs) + 1;
    this.#returns.splice(index, 0, one);
  }

  /** The dollars on the quote's side of the pool. */
  get #quoteUsd(): number {
    return this.token.venue.liquidityUsd(this.token.quoteUsd) / 2;
  }

  #trade(at: number, { side, usd, wallet }: Omit<Return, "atMs">, out: MarketEvent[]): void {
    const { venue, quoteUsd } = this.token;
    if (side === "buy") venue.buy(at, usd, quoteUsd, wallet, out);
    else venue.sell(at, venue.pool.tokensFor(usd / quoteUsd), quoteUsd, wallet, out);
    venue.report(at, quoteUsd, "trade", out);
  }

  #opening(now: number): number {
    return Math.ceil(now + this.random.waiting(this.#meanMs));
  }
}
