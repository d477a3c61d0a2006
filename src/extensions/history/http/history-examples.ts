import type { RecordFigures, TokenDetails, TrackRecord } from "../../../base/model/index.ts";
import { MARKET } from "../../../gateway/http/index.ts";

const { facts, ended, candle } = MARKET;

const after = (
  minutes: number,
  q1: number,
  median: number,
  q3: number,
  rose: number,
): RecordFigures["after"][number] => ({
  minutes,
  unknown: 18,
  n: 212,
  rose,
  q1,
  median,
  q3,
  control: { n: 1_890, rose: 0.49, q1: -0.8, median: 0, q3: 0.7 },
});

const row: RecordFigures = {
  flares: 230,
  ended_by_canary: 71,
  canary_share: 0.3087,
  collapsed: 34,
  warned: 29,
  warning_s: { q1: 12, median: 41, q3: 190 },
  after: [after(5, -2.1, 0.3, 3.4, 0.53), after(15, -4.4, -0.6, 3.9, 0.46), after(60, -8.2, -2.5, 4.1, 0.4)],
};

export const RECORD_EXAMPLE: TrackRecord = {
  window: "24h",
  first_at: "2017-11-11T09:20:00.000Z",
  last_at: "2017-11-12T09:01:00.000Z",
  all: row,
  by_group: [{ group: "bsc", figures: row }],
  by_score: [{ from: 2.5, to: 3.5, figures: row }],
  by_liquidity: [{ from: 10_000, to: 50_000, figures: row }],
};

export const TOKEN_EXAMPLE: TokenDetails = {
  group: "bsc",
  ...facts.token,
  price_at: ended.flare.finished_trending_at,
  liquidity: facts.liquidity,
  market_data: facts.market_data,
  social_data: facts.social_data,
  contract_source: facts.contract_source,
  as_of: ended.flare.finished_trending_at,
  warnings: [],
  canary: null,
  chart: null,
  leaderboard: null,
  candles: [candle],
  flares: [ended],
};
