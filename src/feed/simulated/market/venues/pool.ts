/**
 * A constant-product pool: x tokens and y of the quote, and no swap lets x·y shrink (Adams, Zinsmeister, Robinson, "Uniswap v2 Core",
 * 2020). The fee is taken from what comes in and stays in the pool, so x·y grows a little with each swap.
 */
export class Pool {
  #tokens: number;
  #quote: number;
  /** The part of what a swap brings in that the makers keep: 0.0025 is a quarter of a percent. */
  readonly feeShare: number;

  /** Throws RangeError unless both reserves are above 0 and the fee lies in [0, 1). */
  constructor(tokens: number, quote: number, feeShare: number) {
    if (!(tokens > 0 && quote > 0))
      throw new RangeError(`reserves must be above 0, not ${tokens} and ${quote}`);
    if (!(feeShare >= 0 && feeShare < 1))
      throw new RangeError(`fee share must lie in [0, 1), not ${feeShare}`);
    this.#tokens = tokens;
    this.#quote = quote;
    this.feeShare = feeShare;
  }

  /** Tokens in the pool. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Quote in the pool. */
  get quote(): number {
    return this.#quote;
  }

  /** Quote per token at the margin, before fees. */
  get price(): number {
    return this.#quote / this.#tokens;
  }

  /** Swaps quote for tokens; returns the tokens that leave the pool. */
  buy(quoteIn: number): number {
    const working = quoteIn * (1 - this.feeShare);
    const tokensOut = (this.#tokens * working) / (this.#quote + working);
    this.#quote += quoteIn;
    this.#tokens -= tokensOut;
    return tokensOut;
  }

  /** Swaps tokens for quote; returns the quote that leaves the pool. */
  sell(tokensIn: number): number {
    const working = tokensIn * (1 - this.feeShare);
    const quoteOut = (this.#quote * working) / (this.#tokens + working);
    this.#tokens += tokensIn;
    this.#quote -= quoteOut;
    return quoteOut;
  }

  /** Quote to bring in so that the price grows by the factor e^`rise`, `rise` at least 0. */
  quoteToRise(rise: number): number {
    return (this.#quote * Math.expm1(rise / 2)) / (1 - this.feeShare);
  }

  /** Tokens to bring in so that the price shrinks by the factor e^−`fall`, `fall` at least 0. */
  tokensToFall(fall: number): number {
    return (this.#tokens * Math.expm1(fall / 2)) / (1 - this.feeShare);
  }

  /** The makers add or remove liquidity: both reserves times `factor`, above 0. The price stays. */
  scale(factor: number): void {
    this.#tokens *= factor;
    this.#quote *= factor;
  }
}
