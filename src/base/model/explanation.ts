import { z } from "zod";
import { DecimalString, Group, Timestamp } from "./primitives.ts";

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

const inUnit = (unit: string, description: string) => z.number().meta({ description, "x-unit": unit });
const deviations = (description: string) => inUnit("standard-deviations", description);

export const Term = z
  .object({
    name: TermName,
    unit: TermUnit.describe(
      "The unit of `raw` and `usual`. `buyers`: distinct buyers, decayed over 5 minutes. `share-above-half`: the share of buys minus one half, so 0.25 means three for each sell: of the dollars traded, or in an aggregator's `reports` a lower bound by number. `log-return`: market-neutral logarithm of the price ratio. `multiple-of-usual`: volume divided by the usual volume. `usual-minutes`: volume in minutes of ordinary volume, the mean of the usual volume and the last half hour's. `buys-at-once`: the most buys within one millisecond.",
    ),
    raw: inUnit("unit", "The measurement, in `unit`."),
    usual: z
      .number()
      .nullable()
      .describe("What is usual for this token, in `unit`; `null` if not known yet.")
      .meta({ "x-unit": "unit" }),
    z: deviations("Number of usual deviations above this token's normal value."),
    weight: inUnit("share", "The term's share of the score; the weights of all terms sum to 1."),
  })
  .describe(
    "One term of the score. Its contribution is `weight` × `z`, where a `z` below 0 counts as 0, and one above 5 as 5 + 2·ln(1 + (z − 5)/2).",
  );
export type Term = z.infer<typeof Term>;

/**
 * Why a flare ended: low activity, half of its rise lost, danger, almost no trades, or no longer
 * listed upstream.
 */
export const FINISH_CAUSES = ["faded", "reversed", "canary", "silent", "upstream"] as const;
export const FinishCause = z.enum(FINISH_CAUSES);
export type FinishCause = z.infer<typeof FinishCause>;

export const Locked = z
  .object({
    burned: z.number().min(0).max(1).describe("The share that nobody can withdraw."),
    held: z.number().min(0).max(1).describe("The share that known lockers hold."),
    until: Timestamp.nullable().describe("When the first of these locks ends; `null` if no end is known."),
  })
  .describe("Shares of the token's liquidity.");
export type Locked = z.infer<typeof Locked>;

export const Surge = z
  .object({
    number: z.int().min(1).describe("1 for the flare's first surge."),
    at: Timestamp.describe("Event time of the surge."),
    price: DecimalString.describe("The price at that moment."),
    score: deviations("The score at that moment."),
  })
  .describe("The latest surge of a running flare. The score may be lower than at the start.");
export type Surge = z.infer<typeof Surge>;

/** What the numbers are computed from. */
export const EXPLANATION_FORMS = ["trades", "candles", "reports", "seconds"] as const;

const Share = z.number().min(0).max(1).meta({ "x-unit": "share" });

export const Frequency = z
  .object({ share: Share, low: Share, high: Share })
  .describe("A share of flares, with its 90 % interval.");
export type Frequency = z.infer<typeof Frequency>;

export const Span = z
  .object({ at_least: z.number().nullable(), below: z.number().nullable() })
  .describe("At least this value, and below that one; `null` without a bound.");
export type Span = z.infer<typeof Span>;

const frequency = (description: string) =>
  Frequency.nullable().describe(`${description} \`null\` if too few are known.`);

export const Odds = z
  .object({
    basis: z
      .enum(["server", "table"])
      .describe(
        "`server`: this server's own finished flares. `table`: real markets of the past; the table comes with the program.",
      ),
    like: z
      .object({
        group: Group.optional().describe("Absent: any group."),
        form: z.enum(EXPLANATION_FORMS),
        age_s: Span.optional(),
        locked: Span.optional(),
        liquidity: Span.optional(),
        score: Span.optional(),
      })
      .describe(
        "What the counted flares had in common with this one at their start. An absent field had any value.",
      ),
    n: z.int().min(1).describe("The number of counted flares."),
    rug_60m: frequency("Lost its liquidity for good within 60 minutes of the start."),
    up_15m: frequency("The price was higher 15 minutes after the start."),
    up_60m: frequency("The same after 60 minutes."),
    fall_15m: frequency("The price fell by 3 % or more within 15 minutes.").optional(),
    median_60m: z
      .number()
      .nullable()
      .describe("The median price change after 60 minutes, in percent.")
      .meta({ "x-unit": "percent" }),
  })
  .describe("How flares like this one went, counted before it started. Frozen at the start.");
export type Odds = z.infer<typeof Odds>;

const Sentence = z.string().regex(/^[A-Za-z0-9 ,;:.$%+-]{1,200}$/);

export const Explanation = z
  .object({
    at: Timestamp.describe("Event time of these numbers."),
    form: z
      .enum(EXPLANATION_FORMS)
      .optional()
      .describe(
        "What the numbers are computed from: a chain's `trades` of five minutes, one-minute `candles`, an aggregator's `reports`, or an exchange's trades of ten `seconds`.",
      ),
    text: Sentence.describe("The explanation as a sentence, without names of tokens."),
    score: deviations("Weighted sum of the terms."),
    threshold: deviations("The score required to start."),
    finish_threshold: deviations("The score below which the flare fades."),
    terms: z.array(Term),
    warnings: z.array(z.string()).describe("Names of the canary's active warnings; empty if there are none."),
    finish_cause: FinishCause.nullable().describe("`null` while the flare runs."),
    surge: Surge.optional().describe("The flare's latest surge. Absent before the first."),
    age_s: z
      .int()
      .min(0)
      .nullable()
      .optional()
      .describe(
        "Seconds from the token's listing, or its creation, to the flare's start; `null` if unknown.",
      ),
    locked: Locked.nullable().optional().describe("`null` if unknown."),
    odds: Odds.nullable().optional().describe("`null` if too little is known: see `odds_reason`."),
    odds_reason: Sentence.optional().describe("Why `odds` is `null`."),
  })
  .describe("Why a flare started and ended, in the detector's own numbers as of `at`.");
export type Explanation = z.infer<typeof Explanation>;

export const Explanations = z
  .record(z.string(), Explanation)
  .describe("Explanations by flare id. Contains only flares in one of the flare lists.");
export type Explanations = z.infer<typeof Explanations>;
