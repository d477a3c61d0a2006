import { ENRICHERS, VENUES } from "../../feed/index.ts";
import { removedEnricher } from "../removed.ts";
import { currencies, endpoints, integer, serviceUrl, someOf, someOrNone } from "./kinds.ts";
import { setting } from "./setting.ts";

/** What can be set of live markets and of those who are asked about tokens. */
export const LIVE_SETTINGS = {
  live: setting("live", someOf(["bsc", "polygon", "avalanche", "exchange"]), {
    default: "bsc,polygon,avalanche,exchange",
    example: "bsc,exchange",
    description: "Parts of the live market: chains, and the exchanges",
  }),
  bscRpc: rpcOf("bscRpc", "BSC"),
  polygonRpc: rpcOf("polygonRpc", "Polygon"),
  avalancheRpc: rpcOf("avalancheRpc", "Avalanche"),
  exchanges: setting("exchanges", someOf(VENUES), {
    default: VENUES.join(","),
    example: "binance,gate",
    description: "Exchanges that are followed; none of them needs a key",
  }),
  exchangeQuotes: setting("exchangeQuotes", currencies, {
    default: "USDT,USDC",
    example: "USDT",
    description:
      "Currencies in which a followed market is quoted; each is taken for a US dollar, and a token is followed in the market with the most volume",
  }),
  exchangeVolume: setting("exchangeVolume", integer(0, 1_000_000_000_000), {
    default: "1000000",
    example: "250000",
    description:
      "Least volume of a followed market within 24 hours, in its quote; of a token that is followed already, half of it",
  }),
  binanceUrl: setting("binanceUrl", serviceUrl("http"), {
    default: "https://data-api.binance.vision",
    example: "https://api.binance.com",
    description: "Where Binance is asked for markets and past candles",
  }),
  binanceStreamUrl: setting("binanceStreamUrl", serviceUrl("ws"), {
    default: "wss://data-stream.binance.vision",
    example: "wss://stream.binance.com:9443",
    description: "Where Binance's candles are streamed",
  }),
  kucoinUrl: setting("kucoinUrl", serviceUrl("http"), {
    default: "https://api.kucoin.com",
    example: "https://openapi-v2.kucoin.com",
    description: "Where KuCoin is asked for markets, past candles and the place of its stream",
  }),
  gateUrl: setting("gateUrl", serviceUrl("http"), {
    default: "https://api.gateio.ws",
    example: "https://api.gate.example.org",
    description: "Where Gate is asked for markets and past candles",
  }),
  gateStreamUrl: setting("gateStreamUrl", serviceUrl("ws"), {
    default: "wss://api.gateio.ws",
    example: "wss://stream.gate.example.org",
    description: "Where Gate's candles are streamed",
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
      defaultText: "coingecko,sourcify,dexscreener for live, else none",
      example: "coingecko,etherscan",
      description:
        "Services that are asked for facts about a market's tokens, those with addresses; etherscan wants a key, in `FLAREWIRE_ETHERSCAN_KEY`",
    },
  ),
  coingeckoUrl: setting("coingeckoUrl", serviceUrl("http"), {
    default: "https://api.coingecko.com",
    example: "https://pro-api.coingecko.com",
    description: "Where CoinGecko's list of coins is, for `market_data`",
  }),
  sourcifyUrl: setting("sourcifyUrl", serviceUrl("http"), {
    default: "https://sourcify.dev/server",
    example: "https://sourcify.example.org",
    description: "Where Sourcify is, for `contract_source`",
  }),
  etherscanUrl: setting("etherscanUrl", serviceUrl("http"), {
    default: "https://api.etherscan.io",
    example: "https://etherscan.example.org",
    description: "Where Etherscan's API V2 is, for `contract_source`",
  }),
  dexscreenerUrl: setting("dexscreenerUrl", serviceUrl("http"), {
    default: "https://api.dexscreener.com",
    example: "https://dexscreener.example.org",
    description: "Where DexScreener is, for `social_data`",
  }),
} as const;

function rpcOf<const F extends string>(field: F, chain: string) {
  const name = chain.toLowerCase();
  return setting(field, endpoints, {
    default: "none",
    example: `https://${name}.example.org/v1/KEY,wss://${name}.example.com`,
    description: `JSON-RPC endpoints of ${chain} for the live market, with two or more compared; none: its public ones`,
  });
}

/** Their names, in the order of the table. */
export const LIVE_SETTING_NAMES = Object.keys(LIVE_SETTINGS) as readonly (keyof typeof LIVE_SETTINGS)[];
