import { z } from "zod";
import { DecimalString, Timestamp } from "./primitives.ts";

/** The quantities that contribute to the detector's score. */
export const TERM_NAMES = ["buyers", "imbalance", "price", "volume", "flow", "rush"] as const;
export const TermName = z.enum(TERM_NAMES);
export type TermName = z.infer<typeof TermName>;

/** The unit of each term's `raw` and `usual`. */
export const TERM_UNITS = {
  buyers: "buyers",
  imbalance: "share-above-half",
  price: "log-return",
  volume: "multiple-of-usual",
  flow: "usual-minutes",
  rush: "buys-at-once",
} as const satisfies Readonly<Record<TermName, string>>;
export const TermUnit = z.enum(TERM_UNITS);
export type TermUnit = z.infer<typeof TermUnit>;

export const Term = z
  .object({
    name: TermName,
    unit: TermUnit.describe(
      "The unit of `raw` and `usual`. `buyers`: distinct buyers, decayed over 5 minutes. `share-above-half`: a lower bound of the share of buys, minus one half, so 0.25 means at least three buys for each sell. `log-return`: market-neutral logarithm of the price ratio. `multiple-of-usual`: volume divided by the usual volume. `usual-minutes`: volume in minutes of ordinary volume, the mean of the usual volume and the last half hour's. `buys-at-once`: the most buys within one millisecond.",
    ),
    raw: z.number().describe("The measurement, in `unit`.").meta({ "x-unit": "unit" }),
    usual: z
      .number()
      .nullable()
      .describe("What is usual for this token, in `unit`; `null` if not known yet.")
      .meta({ "x-unit": "unit" }),
    z: z
      .number()
      .describe("Number of usual deviations above this token's normal value.")
      .meta({ "x-unit": "standard-deviations" }),
    weight: z
      .number()
      .describe("The term's share of the score; the weights of all terms sum to 1.")
      .meta({ "x-unit": "share" }),
  })
  .describe("One term of the score. Its contribution is `weight` × `z`, with `z` clipped to [0, 6].");
export type Term = z.infer<typeof Term>;

/**
 * Why a flare ended: low activity, half of its rise lost, danger, almost no trades, or no longer
 * listed upstream.
 */
export const FINISH_CAUSES = ["faded", "reversed", "canary", "silent", "upstream"] as const;
export const FinishCause = z.enum(FINISH_CAUSES);
export type FinishCause = z.infer<typeof FinishCause>;

/** What the numbers are computed from. */
export const EXPLANATION_FORMS = ["trades", "candles", "reports", "seconds"] as const;

export const Surge = z
  .object({
    number: z.int().min(1).describe("1 for the flare's first surge."),
    at: Timestamp.describe("Event time of the surge."),
    price: DecimalString.describe("The price at that moment."),
    score: z.number().describe("The score at that moment.").meta({ "x-unit": "standard-deviations" }),
  })
  .describe(
    "The latest moment at which a running flare surged: its strength doubled, or an exchange's seconds met the conditions of a start again. The score may be lower than at the start.",
  );
export type Surge = z.infer<typeof Surge>;

export const Explanation = z
  .object({
    at: Timestamp.describe("Event time of these numbers."),
    form: z
      .enum(EXPLANATION_FORMS)
      .optional()
      .describe(
        "What the numbers are computed from: a chain's `trades` of five minutes, one-minute `candles`, an aggregator's `reports`, or an exchange's trades of ten `seconds`. Absent if the server's version does not say.",
      ),
    text: z
      .string()
      .regex(/^[A-Za-z0-9 ,;:.$%+-]{1,200}$/)
      .describe(
        "The explanation as a sentence for people. Written from fixed templates over the terms, the flare's liquidity and the warnings; contains no names of tokens.",
      ),
    score: z.number().describe("Weighted sum of the terms.").meta({ "x-unit": "standard-deviations" }),
    threshold: z.number().describe("The score required to start.").meta({ "x-unit": "standard-deviations" }),
    finish_threshold: z
      .number()
      .describe("The score below which the flare fades.")
      .meta({ "x-unit": "standard-deviations" }),
    terms: z.array(Term),
    warnings: z.array(z.string()).describe("Names of the canary's active warnings; empty if there are none."),
    finish_cause: FinishCause.nullable().describe("`null` while the flare runs."),
    surge: Surge.optional().describe("The flare's latest surge. Absent before the first."),
  })
  .describe("Why a flare started and ended, in the detector's own numbers as of `at`.");
export type Explanation = z.infer<typeof Explanation>;

export const Explanations = z
  .record(z.string(), Explanation)
  .describe("Explanations by flare id. Contains only flares in one of the flare lists.");
export type Explanations = z.infer<typeof Explanations>;
