import { z } from "zod";
import { integer, type Kind, list, type SettingTable, setting } from "../../base/settings/index.ts";
import { urlSetting } from "../service/url-setting.ts";
import { someOf } from "../some-of.ts";
import { VENUES } from "./venue.ts";

const currencies: Kind<readonly string[]> = {
  schema: list(z.string().regex(/^[A-Z0-9]{2,12}$/)).refine((names) => names.length > 0),
  bound: "one or more names of 2 to 12 capital letters and digits, separated by commas",
};

export const EXCHANGE_SETTINGS = {
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
      "Minimum 24-hour volume of a market to follow, in its quote currency. Half of it for a token that is already followed",
  }),
  binanceUrl: urlSetting("binanceUrl", "https://data-api.binance.vision", "Binance's REST API"),
  binanceStreamUrl: urlSetting("binanceStreamUrl", "wss://data-stream.binance.vision", "Binance's stream"),
  kucoinUrl: urlSetting("kucoinUrl", "https://api.kucoin.com", "KuCoin's REST API"),
  gateUrl: urlSetting("gateUrl", "https://api.gateio.ws", "Gate's REST API"),
  gateStreamUrl: urlSetting("gateStreamUrl", "wss://api.gateio.ws", "Gate's stream"),
} as const satisfies SettingTable;
