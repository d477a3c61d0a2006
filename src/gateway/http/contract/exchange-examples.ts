import type { ExchangeFlare, ExchangeFlares } from "../../../base/model/index.ts";
import { FLARE_STARTED } from "./example-market.ts";

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
