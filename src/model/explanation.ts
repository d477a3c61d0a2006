import { z } from "zod";
import { Timestamp } from "./primitives.ts";

/** A quantity that contributes to the detector's score. */
export const TERM_NAMES = ["buyers", "imbalance", "price", "volume"] as const;
export const TermName = z.enum(TERM_NAMES);
export type TermName = z.infer<typeof TermName>;

export const Term = z
  .object({
    name: TermName,
    raw: z
      .number()
      .describe(
        "The measurement in its own unit: for `price` the market-neutral log return, for `volume` the ratio to the usual, for `buyers` distinct buyers.",
      ),
    z: z.number().describe("Number of usual deviations above this token's normal value."),
    weight: z.number().describe("The term's share of the score; the weights of all terms sum to 1."),
  })
  .describe("One term of the score. Its contribution is `weight` × `z`, with `z` clipped to [0, 6].");
export type Term = z.infer<typeof Term>;

/** Why a flare ended: low score, danger, almost no trades, or no longer listed upstream. */
export const FINISH_CAUSES = ["faded", "canary", "silent", "upstream"] as const;
export const FinishCause = z.enum(FINISH_CAUSES);
export type FinishCause = z.infer<typeof FinishCause>;

export const Explanation = z
  .object({
    at: Timestamp.describe("Event time of these numbers."),
    score: z.number().describe("Weighted sum of the terms."),
    threshold: z.number().describe("The score required to start."),
    finish_threshold: z.number().describe("The score below which the flare fades."),
    terms: z.array(Term),
    warnings: z.array(z.string()).describe("Names of the canary's active warnings; empty if there are none."),
    finish_cause: FinishCause.nullable().describe("`null` while the flare runs."),
  })
  .describe("Why a flare started and ended, in the detector's own numbers as of `at`.");
export type Explanation = z.infer<typeof Explanation>;

export const Explanations = z
  .record(z.string(), Explanation)
  .describe("Explanations by flare id. Contains only flares in one of the flare lists.");
export type Explanations = z.infer<typeof Explanations>;
