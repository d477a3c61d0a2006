import type { QuoteToken } from "../../quote-tokens.ts";
import type { PoolFormName } from "../network.ts";
import type { PoolState } from "./forms/pool-form.ts";

/** A pool between a quote token and another token, or an anchor: one between two quote tokens. */
export interface Pool {
  readonly address: string;
  readonly form: PoolFormName;
  readonly sides: readonly [PoolSide, PoolSide];
  readonly state: PoolState;
}

export type PoolSide =
  | { readonly kind: "quote"; readonly quote: QuoteToken }
  | { readonly kind: "token"; readonly token: TrackedToken };

/**
 * The facts that a token's contract reports about itself. The texts are untrusted, and `undefined`
 * if the contract reports none.
 */
export interface TokenFacts {
  readonly address: string;
  /** From 0 to 77. */
  readonly decimals: number;
  readonly symbol: string | undefined;
  readonly name: string | undefined;
}

/** A token, and which of its events were published. */
export interface TrackedToken extends TokenFacts {
  /** Event time at which its profile was last published; −∞ to publish it with its next event. */
  introducedAtMs: number;
  /** Whether a launchpad offered it, which counted as its listing. */
  isLaunched: boolean;
}

/** The sides of a market between a token and a quote token. */
export interface MarketSides {
  readonly token: TrackedToken;
  readonly quote: QuoteToken;
  readonly tokenIndex: 0 | 1;
  readonly quoteIndex: 0 | 1;
}

/** Returns which side is which; `undefined` for an anchor. */
export function marketSides({ sides: [first, second] }: Pool): MarketSides | undefined {
  if (first.kind === "quote" && second.kind === "token")
    return { token: second.token, quote: first.quote, tokenIndex: 1, quoteIndex: 0 };
  if (first.kind === "token" && second.kind === "quote")
    return { token: first.token, quote: second.quote, tokenIndex: 0, quoteIndex: 1 };
  return undefined;
}
