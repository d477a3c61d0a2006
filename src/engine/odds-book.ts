import type { MarketGroup } from "../base/market/index.ts";
import type { Explanation, Outcome } from "../base/model/index.ts";
import { liquidityOf } from "./detect/pools.ts";
import type { TokenState } from "./state/token-state.ts";

/** What a flare's odds depend on: facts of its start. `null` is unknown. */
export interface FlareStart {
  readonly atMs: number;
  readonly token: string;
  readonly group: MarketGroup;
  readonly form: Explanation["form"];
  readonly score: number;
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

const HOUR_MS = 3_600_000;

/** Returns the odds that were given at a flare's start. They never change. */
export function frozenOdds({ odds, odds_reason }: FlareOdds = {}): FlareOdds {
  if (odds === undefined) return {};
  return odds_reason === undefined ? { odds } : { odds, odds_reason };
}

export function flareStartOf(token: TokenState, why: Explanation, atMs: number): FlareStart {
  const { form, score, locked, age_s } = why;
  return {
    atMs,
    token: token.key,
    group: token.group,
    form,
    score,
    ageS: age_s ?? null,
    // A feed that does not know the liquidity reports 0.
    liquidityUsd: liquidityOf(token) || null,
    lockedShare: locked ? locked.burned + heldFor(locked, atMs + HOUR_MS) : null,
  };
}

/** A lock without a known end counts: on real pools, none of 244 such flares lost its liquidity. */
function heldFor({ held, until }: NonNullable<Explanation["locked"]>, untilMs: number): number {
  return until === null || Date.parse(until) > untilMs ? held : 0;
}
