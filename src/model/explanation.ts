import { z } from "zod";
import { Timestamp } from "./primitives.ts";

/** A quantity that contributes to the detector's score. */
export const TERM_NAMES = ["buyers", "imbalance", "price", "volume"] as const;
export const TermName = z.enum(TERM_NAMES);
export type TermName = z.infer<typeof TermName>;

/** One term of the score. Its contribution is `weight` × `z`, with `z` clipped to [0, 6]. */
export const Term = z.object({
  name: TermName,
  /**
   * The measurement in its own unit: for `price` the market-neutral log return, for `volume` the
   * ratio to the usual, for `buyers` distinct buyers.
   */
  raw: z.number(),
  /** Number of usual deviations above this token's normal value. */
  z: z.number(),
  /** The term's share of the score; the weights of all terms sum to 1. */
  weight: z.number(),
});
export type Term = z.infer<typeof Term>;

/**
 * Why a flare ended. `faded`: the score or the activity stayed low; `canary`: the token became
 * dangerous; `silent`: trading almost stopped; `upstream`: the source no longer lists it.
 */
export const FINISH_CAUSES = ["faded", "canary", "silent", "upstream"] as const;
export const FinishCause = z.enum(FINISH_CAUSES);
export type FinishCause = z.infer<typeof FinishCause>;

/** Why a flare started and ended, in the detector's own numbers as of `at`. */
export const Explanation = z.object({
  /** Event time of these numbers. */
  at: Timestamp,
  /** Weighted sum of the terms. */
  score: z.number(),
  /** The score required to start. */
  threshold: z.number(),
  /** The score below which the flare fades. */
  finish_threshold: z.number(),
  terms: z.array(Term),
  /** Names of the canary's active warnings; empty if there are none. */
  warnings: z.array(z.string()),
  /** `null` while the flare runs. */
  finish_cause: FinishCause.nullable(),
});
export type Explanation = z.infer<typeof Explanation>;

/** Explanations by flare id. Contains only flares in one of the flare lists. */
export const Explanations = z.record(z.string(), Explanation);
export type Explanations = z.infer<typeof Explanations>;
