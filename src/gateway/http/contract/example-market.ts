import type {
  Candle,
  Candles,
  ChainChartItem,
  ExchangeFlare,
  ExchangeFlares,
  Explanation,
  Flare,
  FlareRecord,
  Flares,
  Listing,
  NestedFlare,
  Newest,
  Outcome,
} from "../../../base/model/index.ts";
import type { EventMessage, Freshness, SourceInfo } from "../../../base/protocol/index.ts";

/* One story for all examples: Uni Token flares on BSC while Quick leads the chart of Matic. */

const OBSERVED_AT = "2017-11-12T08:24:00.000Z";
const CURSOR = "13ac274a9f68b758-101";
const EMITTED_AT = "2026-11-21T08:00:01.000Z";

const facts = {
  id: "3b241101-e2bb-5255-8caf-4136c566a962",
  recent_price_change: 14,
  previous_price_change: -3,
  latest_buy_count: 41,
  latest_sell_count: 9,
  forum_post: null,
  social_data: { chat_url: "https://chat.example/uni", microblog_url: null, website_url: null },
  contract_source: { status: "1", message: "OK" },
  liquidity: "51234.25",
  market_data: { market_id: "uni-token", image_url: null, name: "Uni Token" },
  token: {
    name: "Uni Token",
    symbol: "UNI",
    address: "0x9f5a7c0e6c6f0f5d6be1ad7df5ca1d0ee0c6f9ab",
    price: "0.0125",
    created_at: "2017-11-11T00:00:00.000Z",
  },
} as const satisfies Partial<Flare>;

const flare: Flare = { ...facts, started_trending_at: OBSERVED_AT, finished_trending_at: null };

const finished: Flare = {
  ...flare,
  recent_price_change: -8,
  finished_trending_at: "2017-11-12T09:01:00.000Z",
};

const nested: NestedFlare = {
  ...facts,
  upvote_site_data: null,
  relevant: true,
  last_relevant_at: OBSERVED_AT,
  last_irrelevant_at: "2017-11-11T00:00:00.000Z",
  canary: false,
  canary_at: "2017-11-11T00:00:00.000Z",
};

const why: Explanation = {
  at: OBSERVED_AT,
  text: "price 8.3 % above normal, 2.1 times the usual volume",
  score: 3.13,
  threshold: 2.8,
  finish_threshold: 1,
  terms: [
    { name: "price", unit: "log-return", raw: 0.08, usual: 0, z: 4.8, weight: 0.56 },
    { name: "volume", unit: "multiple-of-usual", raw: 2.1, usual: 1, z: 1, weight: 0.44 },
  ],
  warnings: [],
  finish_cause: null,
};

const outcome: Outcome = {
  start_price: facts.token.price,
  peak_price: "0.0143",
  peak_at: "2017-11-12T08:31:00.000Z",
  peak_change: 14.4,
  end_price: "0.0131",
  end_change: 4.8,
  change_5m: 11.2,
  change_15m: 4.4,
  change_60m: null,
  relative_change_5m: 11.1,
  relative_change_15m: 4.7,
  relative_change_60m: null,
  ended_by: "faded",
  collapsed_at: null,
  collapse_warning_s: null,
  final: false,
  start_score: 3.1,
  start_liquidity: "48250.5",
  control: { change_5m: [0.4, -0.2], change_15m: [1.1, -0.9], change_60m: [-2.3, 0.6] },
};

const listing: Listing = {
  id: "7d444840-9dc0-51d1-b245-5ffdce74fad2",
  listed_at: "2017-11-12T08:20:00.000Z",
  pool: "0x58f876857a02d6762e0101bb5c46a8c1ed44dc16",
  liquidity: "2000",
  token: facts.token,
  market_data: null,
  social_data: null,
  contract_source: { status: "0", message: "NOTOK" },
};

const quick: ChainChartItem = {
  id: "5c1f2a52-0b6f-5d3c-9d0e-1f2a3b4c5d6e",
  most_recent_price_average: "1.25",
  price_change_from_average: 4,
  streak: 7,
  latest_candle_prices: [-1.5, 0, 4],
  most_recent_price: "1.3",
  recent_average_price: "1.28",
  token: { symbol: "QUICK", price: "1.3", address: "0x831753dd7087cac61ab5644b308642cc1c33dc13" },
  market_data: null,
};

const newest: Newest = { bsc: [listing] };
const flares: Flares = { free: [], pro: [flare], finished_trending: [] };
const charts = { bsc: [], exchange: [], matic: [quick], avalanche: [] };

const leaderboards = {
  bsc: [{ type: "flare", time_trended: 5_400, average_position: 2.5, object: nested }],
  exchange: [],
  matic: [{ type: "token", time_trended: 420, average_position: 1, object: quick.token }],
  avalanche: [],
};
const explanations = { [flare.id]: why };

const candle: Candle = {
  open_at: "2017-11-12T08:23:00.000Z",
  open: "0.0117",
  high: "0.0126",
  low: "0.0116",
  close: "0.0125",
  volume: "5321.5",
  buys: 17,
  sells: 4,
};
const candles: Candles = {
  closed_at: "2017-11-12T08:24:00.000Z",
  bsc: { [flare.token.address]: [candle] },
};

const freshness: Freshness = {
  state: "live",
  reason: "",
  observed_at: OBSERVED_AT,
  last_success_at: "2026-11-21T08:00:00.000Z",
  data_age_ms: 600,
};

const source: SourceInfo = {
  name: "replay",
  origin: "recorded",
  facts: { trades: false, liquidity: false, listings: false, profiles: true },
};

/** The event that starts the flare. */
export const FLARE_STARTED: Extract<EventMessage, { readonly name: "flare-started" }> = {
  type: "event",
  cursor: "13ac274a9f68b758-102",
  seq: 102,
  prev: 101,
  emitted_at: EMITTED_AT,
  observed_at: OBSERVED_AT,
  name: "flare-started",
  channel: "flares.pro",
  data: { op: "insert", index: 0, flare, why, cause: "detected" },
};

const ended: FlareRecord = {
  flare: finished,
  started: why,
  why: { ...why, at: "2017-11-12T09:01:00.000Z", finish_cause: "faded" },
  cause: "faded",
  outcome,
};

/** The market of the examples, its state, and the record of the flare after its end. */
export const MARKET = {
  facts,
  why,
  outcome,
  flares,
  listing,
  newest,
  quick,
  charts,
  leaderboards,
  explanations,
  candle,
  candles,
  ended,
  freshness,
  source,
  cursor: CURSOR,
  observedAt: OBSERVED_AT,
  emittedAt: EMITTED_AT,
} as const;

/** A flare on an exchange. Feeds of exchanges report candles, so no buyers are counted. */
export const EXCHANGE_FLARE: ExchangeFlare = {
  ...FLARE_STARTED.data.flare,
  id: "0d0c3a52-64a7-5b9c-8d2c-6f0f2a8f7f11",
  recent_price_change: 5,
  previous_price_change: 1,
  latest_buy_count: 0,
  latest_sell_count: 0,
  social_data: null,
  contract_source: { status: "0", message: "NOTOK" },
  liquidity: "0",
  market_data: { market_id: "bitcoin", image_url: null, name: "Bitcoin" },
  token: { name: "BTC", symbol: "BTC", price: "6412.5", created_at: "2017-11-11T00:00:00.000Z" },
  group: "exchange",
  pair: "BTC/USDT",
  exchange: "binance",
};

export const EXCHANGE_FLARES: ExchangeFlares = { free: [], pro: [EXCHANGE_FLARE], finished_trending: [] };
