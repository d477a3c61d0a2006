import { DAY_MS, MINUTE_MS } from "../../../lib/time/time.ts";
import type { Climate } from "./episodes/market-factor.ts";
import type { Random } from "./random.ts";

/** A token's own value is drawn back to its start with this time constant, so that a market that runs for months stays in range. */
const RECALL_MINUTES = (5 * DAY_MS) / MINUTE_MS;

/** How one token's worth moves by itself and with the market. */
export interface ValueTraits {
  /** Dollars a token at the start. */
  readonly startUsd: number;
  /** Standard deviation of its own logarithm over one minute. */
  readonly volatility: number;
  /** How much of the market's moves it takes part in; 1 is all. */
  readonly beta: number;
}

/**
 * What a token is worth to those who know: geometric Brownian motion with a weak recall, times the market's level. Prices differ from it,
 * and trades bring them back.
 */
export class FairValue {
  readonly #traits: ValueTraits;
  readonly #climate: Climate;
  readonly #startLog: number;
  #own = 0;

  constructor(traits: ValueTraits, climate: Climate) {
    this.#traits = traits;
    this.#climate = climate;
    this.#startLog = Math.log(traits.startUsd) - traits.beta * climate.level;
  }

  /** Natural logarithm of its dollars now. */
  get log(): number {
    return this.#startLog + this.#own + this.#traits.beta * this.#climate.level;
  }

  /** A minute passes. */
  step(random: Random): void {
    this.#own += this.#traits.volatility * random.normal() - this.#own / RECALL_MINUTES;
  }

  /** What a script has left behind becomes part of the value. */
  settle(offset: number): void {
    this.#own += offset;
  }
}
