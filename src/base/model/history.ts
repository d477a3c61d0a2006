import { z } from "zod";
import { Candle } from "./candles.ts";
import { Explanation, FinishCause } from "./explanation.ts";
import { ContractSource, MarketData, SocialData } from "./facts.ts";
import { AnyFlare } from "./flare.ts";
import { Outcome } from "./outcome.ts";
import { Address, Count, DecimalString, Group, Id, Timestamp } from "./primitives.ts";

export const FlareRecord = z
  .object({
    flare: AnyFlare.describe("Its final form; the current one while it runs."),
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
    rose: value.describe("Share of the values above 0. All fields but `n` are `null` without a value."),
    q1: value.describe("First quartile. Quartiles and median are interpolated linearly between two values."),
    median: value,
    q3: value,
  })
  .describe("Values by their quartiles.");

const After = Spread.extend({
  minutes: z.int().describe("Minutes after the flare's start."),
  unknown: Count.describe(
    "Flares whose change is unknown, mostly because nobody traded the token any more: `flares` minus `n`.",
  ),
  control: Spread.describe(
    "The same changes after other moments of the same tokens: all values of `control` in the flares' outcomes, which have known changes only.",
  ),
}).describe("The flares' price changes after `minutes`, in percent.");

const Gain = z.object({ n: Count, won: value.describe("Share above 0."), mean: value, median: value });

export const RecordTrades = Gain.extend({
  text: z.string().describe("The row as a sentence, with a verdict if `n` is at least 30."),
  worthless: Count.describe("Those whose liquidity was removed by the end: −100 %."),
  unknown: Count.describe("Flares without a price at their start."),
  rugged_60m: Count.describe("Flares whose liquidity was removed within 60 minutes, also after their end."),
  control: Gain.describe("The same tokens from the moments of `control`; known changes only."),
}).describe("Bought at each start, sold at its end, by the last price, in percent after costs.");
export type RecordTrades = z.infer<typeof RecordTrades>;

const Rows = z
  .array(z.object({ from: z.number(), to: z.number(), n: Count, said: z.number(), observed: z.number() }))
  .describe("Flares whose odds said `from` to below `to`: the mean of what they said, and what happened.");

export const RecordFigures = z
  .object({
    flares: Count.describe("Flares whose outcome became final within the window."),
    ended_by_canary: Count.describe("Those that ended because of their canary."),
    canary_share: value.describe("`ended_by_canary` divided by `flares`; `null` without a flare."),
    collapsed: Count.describe("Those whose price lost half of its peak or more."),
    warned: Count.describe("Collapsed flares whose canary was on before the collapse."),
    warning_s: z
      .object({ q1: value, median: value, q3: value })
      .describe(
        "Seconds from the canary's warning to the collapse, for all `collapsed`; 0 without a warning.",
      ),
    after: z.array(After),
  })
  .describe("What prices did after flares.");
export type RecordFigures = z.infer<typeof RecordFigures>;

export const RecordRange = z.object({
  from: z.number().nullable().describe("Lower bound, inclusive; `null` if there is none."),
  to: z.number().nullable().describe("Upper bound, exclusive; `null` if there is none."),
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
    last_at: Timestamp.nullable().describe("When the last of them became final."),
    all: RecordFigures,
    trades: RecordTrades.optional(),
    calibration: z.object({ rug_60m: Rows, up_15m: Rows, fall_15m: Rows }).optional(),
    by_group: z.array(z.object({ group: Group, figures: RecordFigures })),
    by_score: z
      .array(RecordRange)
      .describe("By the score at the start. A flare with an unknown score is in no range."),
    by_liquidity: z
      .array(RecordRange)
      .describe(
        "By the dollars in the token's pools at the start. A flare with an unknown value is in no range.",
      ),
  })
  .describe(
    "`GET /api/v1/record`: what prices did after flares, compared with other moments of the same tokens. The window ends a whole minute before the last whole minute of event time.",
  );
export type TrackRecord = z.infer<typeof TrackRecord>;

/** Number of one-minute candles in {@link TokenDetails}: a day. */
export const TOKEN_CANDLES = 1_440;
/** Number of flares in {@link TokenDetails}. */
export const TOKEN_FLARES = 50;

const rank = z.int().min(1).max(10).describe("Rank in the list now; 1 is the top.");

const ChartStanding = z
  .object({
    id: Id.describe("The chart item's id."),
    rank,
    streak: z.int().min(1).describe("Consecutive minutes in the chart: see the chart."),
    most_recent_price_average: DecimalString.describe("As in the chart."),
    price_change_from_average: z.number().describe("As in the chart, in percent."),
    latest_candle_prices: z
      .array(z.number())
      .describe("Closes of the last 60 minutes, oldest first, in percent from the average."),
  })
  .describe("The token in its group's chart.");

const LeaderboardStanding = z
  .object({
    rank,
    time_trended: z.int().min(0).describe("Seconds in the chart within the past 6 hours."),
    average_position: z.number().describe("Mean rank during that time, weighted by time."),
  })
  .describe("The token in its group's leaderboard.");

export const TokenDetails = z
  .object({
    group: Group,
    symbol: z.string(),
    address: Address.nullable().describe("`null` for a token of the exchange."),
    name: z.string().nullable().describe("`null` if the group's lists have no names."),
    price: DecimalString.describe("The newest known, as in flares."),
    price_at: Timestamp.nullable().optional(),
    created_at: Timestamp.nullable(),
    liquidity: DecimalString.nullable().describe(
      'Dollars in the token\'s pools, `"0"` if the feed does not know; `null` if only a chart or leaderboard of a group other than `bsc` has the token.',
    ),
    market_data: MarketData.nullable(),
    social_data: SocialData.nullable(),
    contract_source: ContractSource.nullable(),
    as_of: Timestamp.nullable().describe(
      "`null` if the facts above are current: the token flares or is in a list. Otherwise the end of its latest flare: they, but not the price, are of then.",
    ),
    warnings: z
      .array(z.string())
      .describe(
        "The canary's warnings during its latest flare or, if that ended, at its end; empty if there are none.",
      ),
    canary: z
      .boolean()
      .nullable()
      .describe("Whether the token looks dangerous; `null` unless the chart or leaderboard of `bsc` has it."),
    chart: ChartStanding.nullable().describe("`null` if it is not in the chart now."),
    leaderboard: LeaderboardStanding.nullable().describe("`null` if it is not in the leaderboard now."),
    candles: z
      .array(Candle)
      .max(TOKEN_CANDLES)
      .describe(
        "Stored closed minutes of the last 24 hours, oldest first, from an hour before to two hours after the start of each flare, or its end if that is later.",
      ),
    flares: z
      .array(FlareRecord)
      .max(TOKEN_FLARES)
      .describe("Running flares, then finished ones, newest first. `/api/v1/history` has more."),
  })
  .describe("`GET /api/v1/tokens/{group}/{token}`: facts, ranks, candles and flares of one token.");
export type TokenDetails = z.infer<typeof TokenDetails>;
