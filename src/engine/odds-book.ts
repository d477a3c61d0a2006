import { HOUR_MS } from "../base/lib/time/time.ts";
import type { MarketGroup } from "../base/market/index.ts";
import type { Explanation, Outcome } from "../base/model/index.ts";
import { liquidityOf, offeredSince } from "./detect/pools.ts";
import type { TokenState } from "./state/token-state.ts";

/** What a flare's odds depend on: facts of its start. `null` is unknown. */
export interface FlareStart {
  readonly atMs: number;
  readonly token: string;
  readonly group: MarketGroup;
  readonly form: Explanation["form"];
  readonly score: number;
  /** At least, from a day on. */
  readonly ageS: number | null;
  readonly liquidityUsd: number | null;
  /** Share of the liquidity that is burned, or locked for longer than the hour of the odds. */
  readonly lockedShare: number | null;
}

type FlareOdds = Pick<Explanation, "odds" | "odds_reason">;

/** Tells how flares like a new one ended. The same calls give the same answers. */
export interface OddsBook {
  odds(start: FlareStart): FlareOdds;
  /** Notes how a flare ended, once its outcome is final. */
  note(start: FlareStart, outcome: Outcome): void;
  /** Plain data for checkpoints. */
  readonly state: unknown;
}

/** Odds do not tell ages from here on apart. */
const DAY_S = 86_400;

/** Returns the odds that were given at a flare's start. They never change. */
export function oddsOf(flare: { readonly explanation: FlareOdds } | null): FlareOdds {
  const { odds, odds_reason } = flare?.explanation ?? {};
  if (odds === undefined) return {};
  return odds_reason === undefined ? { odds } : { odds, odds_reason };
}

export function flareStartOf(token: TokenState, why: Explanation, atMs: number): FlareStart {
  const { form, score, locked, age_s } = why;
  // A forgotten listing was at least this long ago: enough for a token that is older than a day.
  const since = token.profile.knownSinceMs ?? offeredSince(token) ?? atMs;
  const atLeastS = Math.floor((atMs - since) / 1_000);
  return {
    atMs,
    token: token.key,
    group: token.group,
    form,
    score,
    ageS: age_s ?? (atLeastS >= DAY_S ? atLeastS : null),
    // A feed that does not know the liquidity reports 0.
    liquidityUsd: liquidityOf(token) || null,
    lockedShare: locked ? locked.burned + heldFor(locked, atMs + HOUR_MS) : null,
  };
}

/** A lock without a known end counts: on real pools, none of 244 such flares lost its liquidity. */
function heldFor({ held, until }: NonNullable<Explanation["locked"]>, untilMs: number): number {
  return until === null || Date.parse(until) > untilMs ? held : 0;
}
