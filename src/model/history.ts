import { z } from "zod";
import { Explanation, FinishCause } from "./explanation.ts";
import { Flare } from "./flare.ts";
import { Outcome } from "./outcome.ts";
import { Count, Group, Timestamp } from "./primitives.ts";

export const FlareRecord = z
  .object({
    flare: Flare.describe("Its final form; the current one while it runs."),
    started: Explanation.nullable().describe("Why it started; `null` if the server did not see the start."),
    why: Explanation.nullable().describe("The explanation as of its end, or now while it runs."),
    cause: FinishCause.nullable().describe("Why it ended; `null` while it runs."),
    outcome: Outcome.nullable().describe(
      "What the price did; `null` while the flare runs, or if the source measures none.",
    ),
  })
  .describe("One flare with its explanations and outcome.");
export type FlareRecord = z.infer<typeof FlareRecord>;

const value = z.number().nullable();

const Spread = z
  .object({
    n: Count.describe("Number of known values."),
    rose: value.describe("Share of them above 0; `null` without a value, like the others."),
    q1: value.describe("First quartile: the value of the nearest rank."),
    median: value,
    q3: value,
  })
  .describe("Values by their quartiles.");

const After = Spread.extend({
  minutes: z.int().describe("Minutes after the flare's start."),
  control: Spread.describe(
    "The same changes after other moments of the same tokens: all values of `control` in the flares' outcomes.",
  ),
}).describe("The flares' price changes after so long, in percent.");

export const RecordFigures = z
  .object({
    flares: Count.describe("Flares whose outcome became final within the window."),
    ended_by_canary: Count.describe("Those of them that their canary ended."),
    canary_share: value.describe("Their share; `null` without a flare."),
    collapsed: Count.describe("Those whose price lost half of its peak or more."),
    warned: Count.describe("Those of the collapsed whose canary was on before."),
    warning_s: z
      .object({ q1: value, median: value, q3: value })
      .describe("How long before the collapse, in seconds; 0 for a collapse without a warning."),
    after: z.array(After),
  })
  .describe("What prices did after flares.");
export type RecordFigures = z.infer<typeof RecordFigures>;

export const RecordRange = z.object({
  from: z.number().nullable().describe("Lowest value, inclusive; `null` for no bound."),
  to: z.number().nullable().describe("Highest value, exclusive; `null` for no bound."),
  figures: RecordFigures,
});
export type RecordRange = z.infer<typeof RecordRange>;

/** Windows of the record, with their length in hours. */
export const RECORD_WINDOWS = { "24h": 24, "7d": 168, "30d": 720 } as const;
export const RecordWindow = z.enum(Object.keys(RECORD_WINDOWS) as (keyof typeof RECORD_WINDOWS)[]);
export type RecordWindow = z.infer<typeof RecordWindow>;

export const TrackRecord = z
  .object({
    window: RecordWindow,
    first_at: Timestamp.nullable().describe("When the first of these outcomes became final; `null` if none."),
    last_at: Timestamp.nullable().describe("When the last one did."),
    all: RecordFigures,
    by_group: z.array(z.object({ group: Group, figures: RecordFigures })),
    by_score: z
      .array(RecordRange)
      .describe("By the score at the start. A flare whose score is unknown is in none."),
    by_liquidity: z
      .array(RecordRange)
      .describe("By the dollars in the token's pools at the start. Unknown ones are in none."),
  })
  .describe(
    "`GET /api/v1/record`: what prices did after flares, beside a control of other moments of the same tokens. It counts flares whose outcome became final within the window, which ends a whole minute before the last whole minute of event time.",
  );
export type TrackRecord = z.infer<typeof TrackRecord>;
