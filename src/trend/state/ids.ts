import { v5 } from "uuid";
import type { MarketGroup } from "../../market/index.ts";

/*
 * Identifiers are derived from facts (RFC 9562 version 5), so that every run over the same events yields the same.
 * Addresses enter in lower case.
 */

/** The name space of all of Flarewire's identifiers. */
const NAMESPACE = "7b1c2c1e-5d0f-5c55-9a39-6f1f0b0d3e21";

/** Of one trending episode. `startMs` is event time. */
export function flareId(group: MarketGroup, token: string, startMs: number): string {
  return v5(`flare/${group}/${token}/${startMs}`, NAMESPACE);
}

/** Of a token's nested flare while it never flared. */
export function neverFlaredId(group: MarketGroup, token: string): string {
  return v5(`flare/${group}/${token}`, NAMESPACE);
}

/** Of a chart's item: the same whenever the token returns to the chart. */
export function chartItemId(group: MarketGroup, token: string): string {
  return v5(`chart/${group}/${token}`, NAMESPACE);
}

/** Of a listing. */
export function listingId(group: MarketGroup, pool: string, atMs: number): string {
  return v5(`listing/${group}/${pool}/${atMs}`, NAMESPACE);
}
