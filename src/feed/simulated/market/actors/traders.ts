import type { MarketEvent } from "../../../../market/index.ts";
import type { Phase } from "../episodes/script.ts";
import type { Random } from "../random.ts";
import type { Venue } from "../venues/venue.ts";
import { Holders, type Wallets } from "./wallets.ts";

/** A common trade brings this share of the pool's quote; the logarithm spreads by the second; none brings more than the third. */
const TYPICAL_SHARE = 0.0007;
const SHARE_SPREAD = 1.1;
const MAX_SHARE = 0.01;
/** How strongly a difference to the fair value tells common traders which side to take: the share of buys is 0.5 + this · gap. */
const SENSE_OF_VALUE = 5;

/** What one swap needs to know beside the pool. */
export interface Moment {
  readonly at: number;
  readonly quoteUsd: number;
  /** Natural logarithm of the aimed-at price over the pool's price: above 0 the token is cheap. */
  readonly gap: number;
}

/** Everybody who trades one token: the crowd, those who live on differences, and the crews of scripts. */
export class Traders {
  readonly #venue: Venue;
  readonly #wallets: Wallets;
  readonly #random: Random;
  readonly #canSell: boolean;
  readonly #holders = new Holders();
  #crew: readonly number[] = [];
  #crewTokens = 0;

  /** `canSell` false: a honeypot, in which no sale succeeds. */
  constructor(venue: Venue, wallets: Wallets, random: Random, canSell: boolean) {
    this.#venue = venue;
    this.#wallets = wallets;
    this.#random = random;
    this.#canSell = canSell;
  }

  /** One of the crowd trades, a little more often in the direction that the fair value calls for. */
  common(moment: Moment, out: MarketEvent[]): void {
    const lean = Math.max(-0.4, Math.min(0.4, SENSE_OF_VALUE * moment.gap));
    this.#trade(moment, this.#random.chance(0.5 + lean), this.#commonShare(), out, 0.25);
  }

  /** One large trade, mostly towards the fair value. */
  large(moment: Moment, share: number, random: Random, out: MarketEvent[]): void {
    this.#trade(moment, random.chance(moment.gap > 0 ? 0.7 : 0.3), share, out, 0);
  }

  /** Someone takes the difference between pool and fair value, down to the fee. */
  arbitrage(moment: Moment, out: MarketEvent[]): void {
    const fee = this.#venue.pool.feeShare;
    const worth = Math.abs(moment.gap) - fee;
    if (worth <= fee) return;
    const trader = this.#wallets.addressOf(this.#wallets.arbitrageur(this.#random));
    this.#close(moment, moment.gap > 0 ? worth : -worth, trader, out);
  }

  /** One of the crowd that a script has brought: those on the script's side carry the price along its way. */
  follow(moment: Moment, phase: Phase, out: MarketEvent[]): void {
    const random = this.#random;
    const buys = random.chance(phase.buyShare);
    const carries = buys === moment.gap > 0;
    const share = carries
      ? Math.expm1(Math.abs(moment.gap) * random.between(0.25, 0.75))
      : this.#commonShare() * random.between(0.2, 0.7);
    this.#trade(moment, buys, Math.max(share, this.#commonShare() * 0.2), out, 0.08);
  }

  /** So many wallets begin a wash or a tick together. */
  assemble(count: number): void {
    this.#crew = Array.from({ length: count }, () => this.#wallets.draw(this.#random));
    this.#crewTokens = 0;
  }

  /** One of the crew buys, or another sells what was bought just before. */
  wash(moment: Moment, out: MarketEvent[]): void {
    if (this.#crewTokens > 0) {
      this.disband(moment, out);
      return;
    }
    const usd = this.#venue.pool.quote * moment.quoteUsd * this.#random.between(0.0005, 0.003);
    this.#crewTokens = this.#venue.buy(moment.at, usd, moment.quoteUsd, this.#crewMember(), out);
  }

  /** The crew's first wallet lifts the price by the factor e^`rise` in one trade. */
  lift(moment: Moment, rise: number, out: MarketEvent[]): void {
    const { pool } = this.#venue;
    const usd = pool.quoteToRise(rise) * moment.quoteUsd;
    this.#crewTokens = this.#venue.buy(moment.at, usd, moment.quoteUsd, this.#crewMember(), out);
  }

  /** The crew sells what it holds. */
  disband(moment: Moment, out: MarketEvent[]): void {
    if (this.#crewTokens > 0) {
      this.#venue.sell(moment.at, this.#crewTokens, moment.quoteUsd, this.#crewMember(), out);
    }
    this.#crewTokens = 0;
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
    return Math.min(MAX_SHARE, this.#random.logNormal(TYPICAL_SHARE, SHARE_SPREAD));
  }

  #crewMember(): string {
    return this.#wallets.addressOf(this.#random.pick(this.#crew));
  }
}
