import { MINUTE_MS, SECOND_MS } from "../../../../base/lib/time/time.ts";
import type { MarketEvent } from "../../../../base/market/index.ts";
import { TokenActor } from "../actors/token-actor.ts";
import { ARBITRAGE_GAP, Traders } from "../actors/traders.ts";
import type { Wallets } from "../actors/wallets.ts";
import type { ChainToken } from "../chain-token.ts";
import type { Random } from "../random.ts";
import { Pool } from "./pool.ts";
import { Venue } from "./venue.ts";

/** Factor on a side pool's trades during a pump of its token, which spills over into it. */
const OVERFLOW = 10;

export interface SidePoolTraits {
  readonly pool: string;
  /** Its liquidity as a multiple of the main pool's. */
  readonly depth: number;
  /** Trades per minute, without a pump. */
  readonly perMinute: number;
  /** Whether the makers' ranges are out of reach, so that no pump spills over. */
  readonly isIdle: boolean;
}

/** Simulates another pool of a token: a smaller one, or a deep one with almost no trades. */
export class SidePool extends TokenActor {
  readonly #traits: SidePoolTraits;
  readonly #venue: Venue;
  readonly #traders: Traders;

  constructor(
    token: ChainToken,
    traits: SidePoolTraits,
    wallets: Wallets,
    rank: number,
    nowMs: number,
    random: Random,
  ) {
    super(token, rank, nowMs, random, 30 * SECOND_MS);
    this.#traits = traits;
    const { tokens, quote, feeShare } = token.venue.pool;
    const { group, token: name } = token.subject;
    this.#venue = new Venue(
      { group, pool: traits.pool, token: name },
      new Pool(tokens * traits.depth, quote * traits.depth, feeShare),
    );
    this.#traders = new Traders(this.#venue, wallets, random, true);
    this.schedule(this.#next(nowMs));
  }

  /** Reports the pool's liquidity for the first time. */
  introduce(at: number, out: MarketEvent[]): void {
    this.#venue.report(at, this.token.quoteUsd, "sync", out);
  }

  protected perform(now: number, out: MarketEvent[]): number {
    const moment = this.token.momentIn(this.#venue.pool, now);
    if (Math.abs(moment.gap) > ARBITRAGE_GAP) this.#traders.arbitrage(moment, out);
    else this.#traders.common(moment, out);
    this.#venue.report(now, moment.quoteUsd, "trade", out);
    return this.#next(now);
  }

  #next(now: number): number {
    const { perMinute, isIdle } = this.#traits;
    const rate = perMinute * (this.token.isPumped && !isIdle ? OVERFLOW : 1);
    return Math.ceil(now + this.random.waiting(MINUTE_MS / rate));
  }
}
