import { v5 } from "uuid";
import type { MarketGroup } from "../../base/market/index.ts";

/*
 * Derives identifiers from facts (RFC 9562 version 5), so that every run over the same events
 * creates the same ones. Pass addresses in lower case.
 */

/** The namespace of all of Flarewire's identifiers. */
const NAMESPACE = "7b1c2c1e-5d0f-5c55-9a39-6f1f0b0d3e21";

/** Returns the id of a trending episode. `startMs` is event time. */
export function flareId(group: MarketGroup, token: string, startMs: number): string {
  return v5(`flare/${group}/${token}/${startMs}`, NAMESPACE);
}

/** Returns the id of a token's nested flare before its first flare. */
export function neverFlaredId(group: MarketGroup, token: string): string {
  return v5(`flare/${group}/${token}`, NAMESPACE);
}

/** Returns the id of a chart item: the same whenever the token returns to the chart. */
export function chartItemId(group: MarketGroup, token: string): string {
  return v5(`chart/${group}/${token}`, NAMESPACE);
}

export function listingId(group: MarketGroup, pool: string, atMs: number): string {
  return v5(`listing/${group}/${pool}/${atMs}`, NAMESPACE);
}
