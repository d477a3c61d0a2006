/** What a token's contract reports about itself. Its texts are untrusted. */
export interface TokenFacts {
  readonly address: string;
  /** From 0 to 77. */
  readonly decimals: number;
  /** `undefined` if the contract reports none. */
  readonly symbol: string | undefined;
  readonly name: string | undefined;
}
