import { GROUP_FACTS } from "../../base/model/index.ts";
import { integer, serviceUrl, setting, someOf, someOrNone } from "../../base/settings/index.ts";
import { NETWORK_NAMES, NETWORKS, type NetworkName } from "../chain/networks.ts";
import { ENRICHERS } from "../enrich/enricher.ts";
import { VENUES } from "../exchange/venue.ts";
import { currencies, endpoints } from "./kinds.ts";

const LIVE_PARTS = ["exchange", "aggregator", ...NETWORK_NAMES] as const;

/** Settings of the live markets and of the services that describe tokens. */
export const LIVE_SETTINGS = {
  live: setting("live", someOf(LIVE_PARTS), {
    default: LIVE_PARTS.join(","),
    example: "exchange,aggregator",
    description: "Parts of the live market",
  }),
  ...rpcSettings(),
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
  binanceUrl: urlOf("binanceUrl", "https://data-api.binance.vision", "Binance's REST API"),
  binanceStreamUrl: urlOf("binanceStreamUrl", "wss://data-stream.binance.vision", "Binance's candle stream"),
  kucoinUrl: urlOf("kucoinUrl", "https://api.kucoin.com", "KuCoin's REST API"),
  gateUrl: urlOf("gateUrl", "https://api.gateio.ws", "Gate's REST API"),
  gateStreamUrl: urlOf("gateStreamUrl", "wss://api.gateio.ws", "Gate's candle stream"),
  geckoterminalUrl: urlOf("geckoterminalUrl", "https://api.geckoterminal.com/api/v2", "GeckoTerminal"),
  enrich: setting("enrich", someOrNone(ENRICHERS), {
    default: (market) => (market === "live" ? "coingecko,sourcify,dexscreener" : "none"),
    defaultText: "coingecko,sourcify,dexscreener for live, otherwise none",
    example: "coingecko,etherscan",
    description:
      "Services that provide facts about tokens with addresses. etherscan requires a key in `FLAREWIRE_ETHERSCAN_KEY`",
  }),
  coingeckoUrl: urlOf(
    "coingeckoUrl",
    "https://api.coingecko.com",
    "CoinGecko, for `market_data`. An optional key in `FLAREWIRE_COINGECKO_KEY` has a limit of its own",
    "https://pro-api.coingecko.com",
  ),
  sourcifyUrl: urlOf("sourcifyUrl", "https://sourcify.dev/server", "Sourcify, for `contract_source`"),
  etherscanUrl: urlOf(
    "etherscanUrl",
    "https://api.etherscan.io",
    "Etherscan's API V2, for `contract_source`",
  ),
  dexscreenerUrl: urlOf("dexscreenerUrl", "https://api.dexscreener.com", "DexScreener, for `social_data`"),
} as const;

function urlOf<const F extends string>(field: F, url: string, service: string, example?: string) {
  const scheme = url.startsWith("ws") ? "ws" : "http";
  return setting(field, serviceUrl(scheme), {
    default: url,
    example: example ?? `${scheme}s://proxy.example.org`,
    description: `Base URL of ${service}`,
  });
}

/** Returns the setting with each network's endpoints. */
function rpcSettings() {
  const entries = NETWORK_NAMES.map((name) => [`${name}Rpc`, rpcOf(name)]);
  return Object.fromEntries(entries) as {
    readonly [N in NetworkName as `${N}Rpc`]: ReturnType<typeof rpcOf<N>>;
  };
}

function rpcOf<const N extends NetworkName>(name: N) {
  const { label } = GROUP_FACTS[NETWORKS[name].group];
  return setting(`${name}Rpc`, endpoints, {
    default: "none",
    example: `https://${name}.example.org/v1/KEY,wss://${name}.example.com`,
    description: `JSON-RPC endpoints of ${label} for the live market. Two or more are compared. none: public endpoints`,
  });
}

export type LiveSettingName = keyof typeof LIVE_SETTINGS;

export const LIVE_SETTING_NAMES = Object.keys(LIVE_SETTINGS) as readonly LiveSettingName[];
