/** Why the engine rejected a market event. */
export const REJECT_REASONS = [
  /** Not an object, of unknown kind, or with a field of the wrong type or out of range. */
  "malformed",
  /**
   * Older than the bound for late events, a candle too late for its minute, or a report older than
   * the pool's known liquidity.
   */
  "late",
  /**
   * Further ahead of the engine's clock than the bound, or one too many before the first clock
   * event.
   */
  "ahead",
  /** Unknown group, or an invalid token for its group: on a chain, it must be an address. */
  "token",
  /** Not a plain positive decimal number, or above the bound for prices. */
  "price",
  /** Not a plain decimal number, or above the bound for amounts. */
  "amount",
  /** A candle with contradictory prices, not of a whole minute, or from before its end. */
  "candle",
  /** A trade too small to mean anything, in dollars or relative to its pool. */
  "dust",
  /**
   * A removal from an unknown pool, its holders, or a trade in one if the token has a known pool
   * and its first trade was not in this one.
   */
  "unknown-pool",
  /** A second listing of the same pool. */
  "duplicate",
  /** Trades and candles of one token, or an aggregator's report on a token with either. */
  "mixed",
] as const;
export type RejectReason = (typeof REJECT_REASONS)[number];

export type Rejections = Record<RejectReason, number>;

export function createRejections(): Rejections {
  return Object.fromEntries(REJECT_REASONS.map((reason) => [reason, 0])) as Rejections;
}

/** Returns whether a name of a pool, trader or token is a string of valid length. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= 128;
}
