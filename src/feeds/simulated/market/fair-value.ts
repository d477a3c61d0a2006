import { DAY_MS, MINUTE_MS } from "../../../base/lib/time/time.ts";
import type { Random } from "./random.ts";

/** A token's own value reverts to its start with this time constant. */
const RECALL_MINUTES = (5 * DAY_MS) / MINUTE_MS;

/** How a token's value moves by itself and with the market. */
export interface ValueTraits {
  readonly startUsd: number;
  /** Standard deviation of its logarithm's change in one minute, without the market's moves. */
  readonly volatility: number;
  /** Its share of the market's moves; 1 is all. */
  readonly beta: number;
}

/** The market's level, as a natural logarithm. */
interface MarketLevel {
  readonly level: number;
}

/** A token's fair value: geometric Brownian motion, slowly reverting, times the market's level. */
export class FairValue {
  readonly #traits: ValueTraits;
  readonly #marketLevel: MarketLevel;
  readonly #startLog: number;
  #own = 0;

  constructor(traits: ValueTraits, marketLevel: MarketLevel) {
    this.#traits = traits;
    this.#marketLevel = marketLevel;
    this.#startLog = Math.log(traits.startUsd) - traits.beta * marketLevel.level;
  }

  /** Natural logarithm of its value in dollars now. */
  get log(): number {
    return this.#startLog + this.#own + this.#traits.beta * this.#marketLevel.level;
  }

  /** Advances its own value by one minute. */
  step(random: Random): void {
    this.#own += this.#traits.volatility * random.normal() - this.#own / RECALL_MINUTES;
  }

  /**
   * Shifts the value's logarithm for good: to the price at a script's start, and by a script's
   * lasting effect.
   */
  settle(offset: number): void {
    this.#own += offset;
  }
}
