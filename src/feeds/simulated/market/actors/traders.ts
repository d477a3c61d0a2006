import type { MarketEvent } from "../../../../base/market/index.ts";
import type { Phase } from "../episodes/script.ts";
import type { Random } from "../random.ts";
import type { Venue } from "../venues/venue.ts";
import { Holders, type Wallets } from "./wallets.ts";

/** A common trade's share of the pool's quote: median, deviation of its logarithm, and maximum. */
const SHARE = { median: 0.0007, spread: 1.1, max: 0.01 };
/** Price gaps beyond this size, as a logarithm, attract arbitrageurs. */
export const ARBITRAGE_GAP = 0.008;
/**
 * Sensitivity of common traders to the target price: the share of buys is 0.5 + this · gap, between
 * 0.1 and 0.9.
 */
const SENSE_OF_VALUE = 5;

export interface Moment {
  readonly at: number;
  readonly quoteUsd: number;
  /** Natural logarithm of the target price over the pool's price: above 0 the token is cheap. */
  readonly gap: number;
}

/** Simulates all traders at one venue: the crowd, arbitrageurs, and the insiders of scripts. */
export class Traders {
  readonly #venue: Venue;
  readonly #wallets: Wallets;
  readonly #random: Random;
  readonly #canSell: boolean;
  readonly #holders = new Holders();
  #insiders: readonly number[] = [];
  #insiderTokens = 0;

  /** @param canSell `false` for a honeypot, in which no sale succeeds. */
  constructor(venue: Venue, wallets: Wallets, random: Random, canSell: boolean) {
    this.#venue = venue;
    this.#wallets = wallets;
    this.#random = random;
    this.#canSell = canSell;
  }

  /** Trades as one of the crowd, more often toward the target price. */
  common(moment: Moment, out: MarketEvent[]): void {
    const lean = Math.max(-0.4, Math.min(0.4, SENSE_OF_VALUE * moment.gap));
    this.#trade(moment, this.#random.chance(0.5 + lean), this.#commonShare(), out, 0.25);
  }

  /** Makes one large trade, mostly toward the target price. */
  large(moment: Moment, share: number, random: Random, out: MarketEvent[]): void {
    this.#trade(moment, random.chance(moment.gap > 0 ? 0.7 : 0.3), share, out, 0);
  }

  /**
   * Trades away the gap between the pool's price and the target, down to the fee. Does nothing if
   * the gap is at most twice the fee.
   */
  arbitrage(moment: Moment, out: MarketEvent[]): void {
    const fee = this.#venue.pool.feeShare;
    const worth = Math.abs(moment.gap) - fee;
    if (worth <= fee) return;
    const trader = this.#wallets.addressOf(this.#wallets.arbitrageur(this.#random));
    this.#close(moment, moment.gap > 0 ? worth : -worth, trader, out);
  }

  /** Trades as one of a script's crowd. Trades toward the target price close part of the gap. */
  follow(moment: Moment, phase: Phase, out: MarketEvent[]): void {
    const random = this.#random;
    const buys = random.chance(phase.buyShare);
    const carries = buys === moment.gap > 0;
    const share = carries
      ? Math.expm1(Math.abs(moment.gap) * random.between(0.25, 0.75))
      : this.#commonShare() * random.between(0.2, 0.7);
    this.#trade(moment, buys, Math.max(share, this.#commonShare() * 0.2), out, 0.08);
  }

  /** Draws the insiders of a script: this many wallets, which hold nothing yet. */
  assemble(count: number): void {
    this.#insiders = Array.from({ length: count }, () => this.#wallets.draw(this.#random));
    this.#insiderTokens = 0;
  }

  /** One insider buys, or any of them sells what was just bought. */
  wash(moment: Moment, out: MarketEvent[]): void {
    if (this.#insiderTokens > 0) {
      this.disband(moment, out);
      return;
    }
    const usd = this.#venue.pool.quote * moment.quoteUsd * this.#random.between(0.0005, 0.003);
    this.#insiderTokens = this.#venue.buy(moment.at, usd, moment.quoteUsd, this.#insider(), out);
  }

  /** An insider raises the price by the factor e^`rise` in one trade. */
  lift(moment: Moment, rise: number, out: MarketEvent[]): void {
    const { pool } = this.#venue;
    const usd = pool.quoteToRise(rise) * moment.quoteUsd;
    this.#insiderTokens = this.#venue.buy(moment.at, usd, moment.quoteUsd, this.#insider(), out);
  }

  /** One insider sells all tokens that the insiders hold. */
  disband(moment: Moment, out: MarketEvent[]): void {
    if (this.#insiderTokens > 0) {
      this.#venue.sell(moment.at, this.#insiderTokens, moment.quoteUsd, this.#insider(), out);
    }
    this.#insiderTokens = 0;
  }

  #trade(moment: Moment, buys: boolean, share: number, out: MarketEvent[], returning: number): void {
    const { pool } = this.#venue;
    if (buys) {
      const buyer = this.#holders.buyer(this.#wallets, this.#random, returning);
      this.#holders.add(buyer);
      const usd = pool.quote * share * moment.quoteUsd;
      this.#venue.buy(moment.at, usd, moment.quoteUsd, this.#wallets.addressOf(buyer), out);
    } else if (this.#canSell) {
      const seller = this.#holders.seller(this.#wallets, this.#random);
      this.#venue.sell(moment.at, pool.tokens * share, moment.quoteUsd, this.#wallets.addressOf(seller), out);
    }
  }

  #close(moment: Moment, gap: number, trader: string, out: MarketEvent[]): void {
    const { pool } = this.#venue;
    if (gap > 0) {
      this.#venue.buy(moment.at, pool.quoteToRise(gap) * moment.quoteUsd, moment.quoteUsd, trader, out);
    } else if (this.#canSell) {
      this.#venue.sell(moment.at, pool.tokensToFall(-gap), moment.quoteUsd, trader, out);
    }
  }

  #commonShare(): number {
    return Math.min(SHARE.max, this.#random.logNormal(SHARE.median, SHARE.spread));
  }

  #insider(): string {
    return this.#wallets.addressOf(this.#random.pick(this.#insiders));
  }
}
