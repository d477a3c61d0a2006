import { ENRICHERS, VENUES } from "../../feed/index.ts";
import { removedEnricher } from "../removed.ts";
import { currencies, endpoints, integer, serviceUrl, someOf, someOrNone } from "./kinds.ts";
import { setting } from "./setting.ts";

/** Settings of the live markets and of the services that describe tokens. */
export const LIVE_SETTINGS = {
  live: setting("live", someOf(["exchange", "aggregator", "bsc", "polygon", "avalanche"]), {
    default: "exchange,aggregator,bsc,polygon,avalanche",
    example: "exchange,aggregator",
    description: "Parts of the live market",
  }),
  bscRpc: rpcOf("bscRpc", "BSC"),
  polygonRpc: rpcOf("polygonRpc", "Polygon"),
  avalancheRpc: rpcOf("avalancheRpc", "Avalanche"),
  exchanges: setting("exchanges", someOf(VENUES), {
    default: VENUES.join(","),
    example: "binance,gate",
    description: "Exchanges to follow; none of them needs a key",
  }),
  exchangeQuotes: setting("exchangeQuotes", currencies, {
    default: "USDT,USDC",
    example: "USDT",
    description:
      "Quote currencies of the markets to follow. Each counts as one US dollar. A token is followed in one market: on Binance if listed there, otherwise on the exchange with the median volume",
  }),
  exchangeVolume: setting("exchangeVolume", integer(0, 1_000_000_000_000), {
    default: "1000000",
    example: "250000",
    description:
      "Minimum 24-hour volume of a market to follow, in its quote currency; half of it for a token that is already followed",
  }),
  binanceUrl: setting("binanceUrl", serviceUrl("http"), {
    default: "https://data-api.binance.vision",
    example: "https://api.binance.com",
    description: "Base URL of Binance's REST API, for markets and past candles",
  }),
  binanceStreamUrl: setting("binanceStreamUrl", serviceUrl("ws"), {
    default: "wss://data-stream.binance.vision",
    example: "wss://stream.binance.com:9443",
    description: "Base URL of Binance's candle stream",
  }),
  kucoinUrl: setting("kucoinUrl", serviceUrl("http"), {
    default: "https://api.kucoin.com",
    example: "https://openapi-v2.kucoin.com",
    description: "Base URL of KuCoin's REST API, for markets, past candles and the stream's address",
  }),
  gateUrl: setting("gateUrl", serviceUrl("http"), {
    default: "https://api.gateio.ws",
    example: "https://api.gate.example.org",
    description: "Base URL of Gate's REST API, for markets and past candles",
  }),
  gateStreamUrl: setting("gateStreamUrl", serviceUrl("ws"), {
    default: "wss://api.gateio.ws",
    example: "wss://stream.gate.example.org",
    description: "Base URL of Gate's candle stream",
  }),
  geckoterminalUrl: setting("geckoterminalUrl", serviceUrl("http"), {
    default: "https://api.geckoterminal.com/api/v2",
    example: "https://geckoterminal.example.org/api/v2",
    description: "Base URL of GeckoTerminal, the aggregator of the live market",
  }),
  enrich: setting(
    "enrich",
    { ...someOrNone(ENRICHERS), objection: removedEnricher },
    {
      default: {
        simulated: "none",
        shipped: "none",
        own: "none",
        exchange: "none",
        chain: "none",
        live: "coingecko,sourcify,dexscreener",
      },
      defaultText: "coingecko,sourcify,dexscreener for live, otherwise none",
      example: "coingecko,etherscan",
      description:
        "Services that provide facts about tokens with addresses. etherscan requires a key in `FLAREWIRE_ETHERSCAN_KEY`",
    },
  ),
  coingeckoUrl: setting("coingeckoUrl", serviceUrl("http"), {
    default: "https://api.coingecko.com",
    example: "https://pro-api.coingecko.com",
    description:
      "Base URL of CoinGecko, for `market_data`. An optional key in `FLAREWIRE_COINGECKO_KEY` has a limit of its own",
  }),
  sourcifyUrl: setting("sourcifyUrl", serviceUrl("http"), {
    default: "https://sourcify.dev/server",
    example: "https://sourcify.example.org",
    description: "Base URL of Sourcify, for `contract_source`",
  }),
  etherscanUrl: setting("etherscanUrl", serviceUrl("http"), {
    default: "https://api.etherscan.io",
    example: "https://etherscan.example.org",
    description: "Base URL of Etherscan's API V2, for `contract_source`",
  }),
  dexscreenerUrl: setting("dexscreenerUrl", serviceUrl("http"), {
    default: "https://api.dexscreener.com",
    example: "https://dexscreener.example.org",
    description: "Base URL of DexScreener, for `social_data`",
  }),
} as const;

function rpcOf<const F extends string>(field: F, chain: string) {
  const name = chain.toLowerCase();
  return setting(field, endpoints, {
    default: "none",
    example: `https://${name}.example.org/v1/KEY,wss://${name}.example.com`,
    description: `JSON-RPC endpoints of ${chain} for the live market. Two or more are compared. none: public endpoints`,
  });
}

export type LiveSettingName = keyof typeof LIVE_SETTINGS;

export const LIVE_SETTING_NAMES = Object.keys(LIVE_SETTINGS) as readonly LiveSettingName[];
