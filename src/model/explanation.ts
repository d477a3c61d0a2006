import { z } from "zod";
import { Timestamp } from "./primitives.ts";

/** What a term of the detector's score looks at. */
export const TERM_NAMES = ["buyers", "imbalance", "price", "volume"] as const;
export const TermName = z.enum(TERM_NAMES);
export type TermName = z.infer<typeof TermName>;

/** One term of the score: `weight` × `z`, clipped to [0, 6], is what it contributed. */
export const Term = z.object({
  name: TermName,
  /** The measurement in its own unit: for `price` the market-neutral log return, for `volume` the ratio to the usual, for `buyers` distinct buyers. */
  raw: z.number(),
  /** How many usual deviations the measurement stands above what is normal for this token. */
  z: z.number(),
  /** The term's share of the score; the weights of all terms present sum to 1. */
  weight: z.number(),
});
export type Term = z.infer<typeof Term>;

/** Why a flare ended. `faded`: the score, or the activity, stayed low; `canary`: the token turned dangerous; `silent`: hardly anybody traded any more; `upstream`: the source no longer lists it. */
export const FINISH_CAUSES = ["faded", "canary", "silent", "upstream"] as const;
export const FinishCause = z.enum(FINISH_CAUSES);
export type FinishCause = z.infer<typeof FinishCause>;

/** Why a flare fired, and why it ended, in plain numbers: the detector's own, as they were at `at`. */
export const Explanation = z.object({
  /** Event time of these numbers. */
  at: Timestamp,
  /** Weighted sum of the terms. */
  score: z.number(),
  /** The score that had to be passed to start. */
  threshold: z.number(),
  /** The score below which the flare fades. */
  finish_threshold: z.number(),
  terms: z.array(Term),
  /** Names of the canary's warnings that hold; empty when none does. */
  warnings: z.array(z.string()),
  /** `null` while the flare runs. */
  finish_cause: FinishCause.nullable(),
});
export type Explanation = z.infer<typeof Explanation>;

/** Explanations by flare id. Holds no id that is in none of the flare lists. */
export const Explanations = z.record(z.string(), Explanation);
export type Explanations = z.infer<typeof Explanations>;
