/**
 * A constant-product pool of x tokens and y quote (Adams, Zinsmeister, Robinson, "Uniswap v2 Core",
 * 2020). The fee stays in the pool, so each swap increases x·y slightly.
 */
export class Pool {
  #tokens: number;
  #quote: number;
  /** Share of a swap's input that the makers keep: 0.0025 is a quarter of a percent. */
  readonly feeShare: number;

  /** Throws RangeError unless both reserves are above 0 and the fee is in [0, 1). */
  constructor(tokens: number, quote: number, feeShare: number) {
    if (!(tokens > 0 && quote > 0))
      throw new RangeError(`reserves must be above 0, got ${tokens} and ${quote}`);
    if (!(feeShare >= 0 && feeShare < 1))
      throw new RangeError(`fee share must be in [0, 1), got ${feeShare}`);
    this.#tokens = tokens;
    this.#quote = quote;
    this.feeShare = feeShare;
  }

  get tokens(): number {
    return this.#tokens;
  }

  get quote(): number {
    return this.#quote;
  }

  /** Marginal price in quote per token, before fees. */
  get price(): number {
    return this.#quote / this.#tokens;
  }

  /** Returns the tokens bought. */
  buy(quoteIn: number): number {
    const working = quoteIn * (1 - this.feeShare);
    const tokensOut = (this.#tokens * working) / (this.#quote + working);
    this.#quote += quoteIn;
    this.#tokens -= tokensOut;
    return tokensOut;
  }

  /** Returns the quote received. */
  sell(tokensIn: number): number {
    const working = tokensIn * (1 - this.feeShare);
    const quoteOut = (this.#quote * working) / (this.#tokens + working);
    this.#tokens += tokensIn;
    this.#quote -= quoteOut;
    return quoteOut;
  }

  /** Returns the token input whose sale yields this much quote, at most half of the reserve. */
  tokensFor(quoteOut: number): number {
    const out = Math.min(quoteOut, this.#quote / 2);
    return (this.#tokens * out) / (this.#quote - out) / (1 - this.feeShare);
  }

  /**
   * Returns the quote input that raises the price by the factor e^`rise`, or slightly more because
   * the fee stays in the pool. `rise` is at least 0.
   */
  quoteToRise(rise: number): number {
    return (this.#quote * Math.expm1(rise / 2)) / (1 - this.feeShare);
  }

  /**
   * Returns the token input that lowers the price by the factor e^−`fall`, or slightly more. `fall`
   * is at least 0.
   */
  tokensToFall(fall: number): number {
    return (this.#tokens * Math.expm1(fall / 2)) / (1 - this.feeShare);
  }

  /** Adds or removes liquidity: multiplies both reserves by `factor`, above 0. The price stays. */
  scale(factor: number): void {
    this.#tokens *= factor;
    this.#quote *= factor;
  }
}
