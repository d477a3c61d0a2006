import type { ExchangeFlare, ExchangeFlares } from "../../../base/model/index.ts";
import type { EventMessage } from "../../../base/protocol/index.ts";
import { EVENT_EXAMPLES } from "./example-market.ts";

const { data, ...started } = EVENT_EXAMPLES["flare-started"];

const flare: ExchangeFlare = {
  ...data.flare,
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

/** A flare on an exchange starts. Feeds of exchanges report candles, so no buyers are counted. */
export const EXCHANGE_STARTED: Extract<EventMessage, { readonly name: "flare-started" }> = {
  ...started,
  channel: "flares.exchange.pro",
  data: { ...data, flare },
};

export const EXCHANGE_FLARES: ExchangeFlares = { free: [], pro: [flare], finished_trending: [] };
