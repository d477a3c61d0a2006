import {
  type AnyFlare,
  type BscChartItem,
  type BscLeaderboardEntry,
  byForm,
  type Candle,
  type Candles,
  type ChainChartItem,
  type ChainFlare,
  type ChainLeaderboardEntry,
  EMPTY_SNAPSHOT,
  type ExchangeChartItem,
  type ExchangeFlare,
  type ExchangeLeaderboardEntry,
  type Explanation,
  type Flare,
  type Listing,
  type NestedFlare,
  type Outcome,
  type Snapshot,
} from "../../../src/base/model/index.ts";
import { defaultGroups } from "../expect/shown-lists.ts";

/* One valid item of each resource. No object that may be null is null. */

export const SAMPLE_FLARE: Flare = {
  id: "3b241101-e2bb-5255-8caf-4136c566a962",
  recent_price_change: 14,
  previous_price_change: -3,
  latest_buy_count: 41,
  latest_sell_count: 9,
  forum_post: {
    position: 3,
    address: "0x9f5a7c0e6c6f0f5d6be1ad7df5ca1d0ee0c6f9ab",
    url: "https://forum.example/t/1",
    title: 'New: "Ünï" <b>token</b>',
    upvotes: 120,
    posted: "2017-11-12T06:00:00.000Z",
  },
  social_data: { chat_url: "https://chat.example/x", microblog_url: null, website_url: "https://x.example" },
  contract_source: { status: "1", message: "OK" },
  liquidity: "51234.25",
  market_data: { market_id: "uni-token", image_url: "https://img.example/u.png", name: "Uni Token" },
  token: {
    name: "Uni Token",
    symbol: "UNI",
    address: "0x9f5a7c0e6c6f0f5d6be1ad7df5ca1d0ee0c6f9ab",
    price: "0.00001234",
    created_at: "2017-11-11T00:00:00.000Z",
  },
  started_trending_at: "2017-11-12T08:21:00.000Z",
  finished_trending_at: null,
};

const { started_trending_at: _started, finished_trending_at: _finished, ...facts } = SAMPLE_FLARE;

export const SAMPLE_NESTED_FLARE: NestedFlare = {
  ...facts,
  upvote_site_data: null,
  relevant: true,
  last_relevant_at: "2017-11-12T08:20:00.000Z",
  last_irrelevant_at: "2017-11-11T00:00:00.000Z",
  canary: false,
  canary_at: "2017-11-11T00:00:00.000Z",
};

const chartFacts = {
  id: "5c1f2a52-0b6f-5d3c-9d0e-1f2a3b4c5d6e",
  most_recent_price_average: "1.25",
  price_change_from_average: 4.25,
  streak: 7,
  latest_candle_prices: [-1.5, 0, 2.25],
};

export const SAMPLE_BSC_CHART_ITEM: BscChartItem = {
  ...chartFacts,
  most_recent_price: "1.3",
  buy_count: 12,
  sell_count: 4,
  flare: SAMPLE_NESTED_FLARE,
};

export const SAMPLE_EXCHANGE_CHART_ITEM: ExchangeChartItem = {
  ...chartFacts,
  token: { symbol: "BCC", price: "0.19" },
  market_data: { market_id: "bcc", image_url: null, name: null },
};

export const SAMPLE_MATIC_CHART_ITEM: ChainChartItem = {
  ...chartFacts,
  most_recent_price: "1.3",
  recent_average_price: "1.28",
  token: { symbol: "QCK", price: "1.3", address: "0x00ff" },
  market_data: { market_id: "qck", image_url: null, name: "Quick" },
};

const standing = { time_trended: 5_400, average_position: 2.5 };

export const SAMPLE_BSC_ENTRY: BscLeaderboardEntry = {
  type: "flare",
  ...standing,
  object: SAMPLE_NESTED_FLARE,
};

const SAMPLE_EXCHANGE_ENTRY: ExchangeLeaderboardEntry = {
  type: "token",
  ...standing,
  object: { symbol: "BCC", price: "0.19" },
};

export const SAMPLE_CHAIN_ENTRY: ChainLeaderboardEntry = {
  type: "token",
  ...standing,
  object: { symbol: "QCK", price: "1.3", address: "0x00ff" },
};

export const SAMPLE_LISTING: Listing = {
  id: "7d444840-9dc0-51d1-b245-5ffdce74fad2",
  listed_at: "2017-11-12T08:30:00.000Z",
  pool: "0xp001",
  liquidity: "2000",
  token: SAMPLE_FLARE.token,
  market_data: null,
  social_data: null,
  contract_source: { status: "0", message: "NOTOK" },
};

export const SAMPLE_EXPLANATION: Explanation = {
  at: "2017-11-12T08:21:00.000Z",
  text: "price 8.3 % above normal",
  score: 3.4,
  threshold: 2.5,
  finish_threshold: 1,
  terms: [{ name: "price", unit: "log-return", raw: 0.08, usual: 0, z: 4.1, weight: 0.6 }],
  warnings: [],
  finish_cause: null,
};

export const SAMPLE_OUTCOME: Outcome = {
  start_price: "0.0125",
  peak_price: "0.0143",
  peak_at: "2017-11-12T08:31:00.000Z",
  peak_change: 14.4,
  end_price: "0.0131",
  end_change: 4.8,
  change_5m: 11.2,
  change_15m: null,
  change_60m: null,
  relative_change_5m: 11.1,
  relative_change_15m: null,
  relative_change_60m: null,
  ended_by: "faded",
  collapsed_at: null,
  collapse_warning_s: null,
  final: false,
  start_score: 3.1,
  start_liquidity: "48250.5",
  control: { change_5m: [0.4, -0.2], change_15m: [1.1], change_60m: [] },
};

const candleAt = (minute: number): Candle => ({
  open_at: `2017-11-12T08:${minute}:00.000Z`,
  open: "1",
  high: "2",
  low: "0.5",
  close: "1.5",
  volume: "1234.5",
  buys: 3,
  sells: 1,
});

/** Candles of a token with a running flare, and of one whose flare has finished. */
export const SAMPLE_CANDLES: Candles = {
  closed_at: "2017-11-12T08:36:00.000Z",
  bsc: {
    [SAMPLE_FLARE.token.address]: [candleAt(33), candleAt(35)],
    "0x1111111111111111111111111111111111111111": [candleAt(35)],
  },
};

const { address: _, ...EXCHANGE_TOKEN } = SAMPLE_FLARE.token;
export const SAMPLE_EXCHANGE_FLARE: ExchangeFlare = {
  ...SAMPLE_FLARE,
  id: "5c1f2a52-0b6f-5d3c-9d0e-1f2a3b4c5d70",
  token: { ...EXCHANGE_TOKEN, name: "BTC", symbol: "BTC" },
  ...{ group: "exchange", pair: "BTC/USDT", exchange: "binance", liquidity: "0" },
};
const SAMPLE_MATIC_FLARE: ChainFlare = {
  ...SAMPLE_FLARE,
  id: "5c1f2a52-0b6f-5d3c-9d0e-1f2a3b4c5d71",
  group: "matic",
};

/** A snapshot with an item in nearly every list. */
export const SAMPLE_SNAPSHOT: Snapshot = {
  ...EMPTY_SNAPSHOT,
  flares: {
    free: [SAMPLE_FLARE],
    pro: [SAMPLE_FLARE],
    finished_trending: [
      {
        ...SAMPLE_FLARE,
        id: "11111111-2222-5333-8444-555555555555",
        forum_post: null,
        social_data: null,
        market_data: null,
        finished_trending_at: "2017-11-12T08:35:00.000Z",
      },
    ],
  },
  newest: { bsc: [SAMPLE_LISTING] },
  charts: byForm([SAMPLE_BSC_CHART_ITEM], [SAMPLE_EXCHANGE_CHART_ITEM], [SAMPLE_MATIC_CHART_ITEM]),
  leaderboards: byForm([SAMPLE_BSC_ENTRY], [SAMPLE_EXCHANGE_ENTRY], [SAMPLE_CHAIN_ENTRY]),
  explanations: { [SAMPLE_FLARE.id]: SAMPLE_EXPLANATION },
  outcomes: { "11111111-2222-5333-8444-555555555555": SAMPLE_OUTCOME },
  candles: SAMPLE_CANDLES,
  "flares.exchange": {
    free: [SAMPLE_EXCHANGE_FLARE],
    pro: [SAMPLE_EXCHANGE_FLARE],
    finished_trending: [endedOf(SAMPLE_EXCHANGE_FLARE, "22222222-2222-5333-8444-555555555555")],
  },
  "flares.matic": {
    free: [],
    pro: [SAMPLE_MATIC_FLARE],
    finished_trending: [endedOf(SAMPLE_MATIC_FLARE, "33333333-2222-5333-8444-555555555555")],
  },
};

function endedOf<F extends AnyFlare>(flare: F, id: string): F {
  return { ...flare, id, finished_trending_at: "2017-11-12T08:35:00.000Z" };
}

/**
 * The sample as a poll over REST returns it, without candles and flares of other groups, which have
 * their own resources.
 */
export const POLLED_SNAPSHOT: Snapshot = {
  ...SAMPLE_SNAPSHOT,
  candles: EMPTY_SNAPSHOT.candles,
  charts: { ...EMPTY_SNAPSHOT.charts, ...defaultGroups(SAMPLE_SNAPSHOT.charts) },
  leaderboards: { ...EMPTY_SNAPSHOT.leaderboards, ...defaultGroups(SAMPLE_SNAPSHOT.leaderboards) },
  "flares.exchange": EMPTY_SNAPSHOT["flares.exchange"],
  "flares.matic": EMPTY_SNAPSHOT["flares.matic"],
};
