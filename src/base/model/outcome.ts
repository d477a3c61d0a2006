import { z } from "zod";
import { FinishCause, Odds } from "./explanation.ts";
import { DecimalString, Timestamp } from "./primitives.ts";

const price = (description: string) => DecimalString.nullable().meta({ description });
const change = (description: string, unit: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `${description} In ${unit}.` });
const percent = (description: string) => change(description, "percent");
const points = (description: string) => change(description, "percentage points");

/** Minutes after a flare's start at which the price change is measured. */
export const OUTCOME_MINUTES = [5, 15, 60] as const;

const changes = z.array(z.number());

export const OutcomeControl = z
  .object({ change_5m: changes, change_15m: changes, change_60m: changes })
  .describe(
    "The same changes after other moments of the token, in percent, oldest moment first. A token has one such moment in every two hours of the clock, at a minute that depends only on its address. A flare's control has those from 24 hours to 90 minutes before its start. Unknown changes are omitted.",
  );
export type OutcomeControl = z.infer<typeof OutcomeControl>;

/** What was known when the flare started. Sources of an older version report none of it. */
const atStart = {
  start_score: z.number().nullable().optional().meta({ description: "Score at the start." }),
  start_liquidity: DecimalString.nullable()
    .optional()
    .meta({ description: "Dollars in the token's pools at the start; `null` if not known." }),
  control: OutcomeControl.optional(),
};
export type OutcomeStart = Required<z.infer<z.ZodObject<typeof atStart>>>;

const Held = z
  .object({
    change_15m: percent("After 15 minutes."),
    change_60m: percent("After 60 minutes."),
    lowest_15m: percent("From the start to the lowest price of the first 15 minutes."),
    change_end: percent("At the end of the flare."),
    end_s: z.int().min(0).describe("Seconds from the start to the end."),
    rugged_s: z.int().nullable().describe("Seconds to the removal; `null` without one in 60 minutes."),
  })
  .describe(
    "What a purchase at the start became, by the token's last price, however old. -100 once the liquidity was removed, also after the flare's end: nobody can sell then.",
  );

export const Outcome = z
  .object({
    start_price: price("Price at the start."),
    peak_price: price(
      "Highest of the minutes' closes and of the prices at the start, the end and the three measurements. A spike within a minute does not count.",
    ),
    peak_at: Timestamp.nullable().meta({ description: "When the peak was measured." }),
    peak_change: percent("From the start to the peak."),
    end_price: price("Price when the flare ended."),
    end_change: percent("From the start to the end."),
    change_5m: percent("Price change in the 5 minutes after the start."),
    change_15m: percent("The same for 15 minutes, even if the flare ended before."),
    change_60m: percent("The same for 60 minutes."),
    relative_change_5m: points("`change_5m` minus the median change of the group's tokens meanwhile."),
    relative_change_15m: points("The same for `change_15m`."),
    relative_change_60m: points("The same for `change_60m`."),
    given_back: percent(
      "Share of the rise that was lost by the end. The rise is from the price before the flare, or before a surge that was at least half of it, to the highest that stood for 15 seconds, or for a second on an exchange with individual trades. Above 100 if the price fell below its level before the flare.",
    ).optional(),
    ended_by: FinishCause.meta({ description: "Why the flare ended." }),
    collapsed_at: Timestamp.nullable().meta({
      description:
        "Since when the price was at half of its peak or less, if it still was at the end of that minute; `null` without such a collapse.",
    }),
    collapse_warning_s: z.int().min(0).nullable().meta({
      description:
        "Seconds for which the canary had been on at the collapse: 0 without a warning, `null` without a collapse.",
    }),
    final: z.boolean().meta({
      description: "False until 60 minutes after the start. Then `flare-outcome` sends the final values.",
    }),
    held: Held.optional(),
    ...atStart,
    odds: Odds.nullable().optional().meta({ description: "The odds at the start; `null` without." }),
  })
  .describe(
    "What the price did after a flare's start, until 60 minutes later, or its end if that is later. `null` means unknown: not measured yet, no trade in the 3 minutes before the moment, or no data of the whole group.",
  );
export type Outcome = z.infer<typeof Outcome>;

export const Outcomes = z
  .record(z.string(), Outcome)
  .describe("Outcomes by flare id. Contains only flares in `finished_trending`.");
export type Outcomes = z.infer<typeof Outcomes>;
