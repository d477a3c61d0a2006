import { type SettingTable, setting } from "../../base/settings/index.ts";
import { urlSetting } from "../service/url-setting.ts";
import { someOrNone } from "../some-of.ts";
import { ENRICHERS } from "./enricher.ts";

/** The variables of the services' keys. */
export const KEY_VARIABLES = {
  etherscan: { variable: "FLAREWIRE_ETHERSCAN_KEY", owner: "Etherscan" },
  coingecko: { variable: "FLAREWIRE_COINGECKO_KEY", owner: "CoinGecko" },
} as const;

export const ENRICH_SETTINGS = {
  enrich: setting("enrich", someOrNone(ENRICHERS), {
    default: "none",
    defaultText: "coingecko,sourcify,dexscreener for live, otherwise none",
    example: "coingecko,etherscan",
    description: `Services that provide facts about tokens with addresses. etherscan requires a key in \`${KEY_VARIABLES.etherscan.variable}\``,
  }),
  coingeckoUrl: urlSetting(
    "coingeckoUrl",
    "https://api.coingecko.com",
    `CoinGecko, for \`market_data\`. An optional key in \`${KEY_VARIABLES.coingecko.variable}\` has a limit of its own`,
    "https://pro-api.coingecko.com",
  ),
  sourcifyUrl: urlSetting("sourcifyUrl", "https://sourcify.dev/server", "Sourcify, for `contract_source`"),
  etherscanUrl: urlSetting(
    "etherscanUrl",
    "https://api.etherscan.io",
    "Etherscan's API V2, for `contract_source`",
  ),
  dexscreenerUrl: urlSetting(
    "dexscreenerUrl",
    "https://api.dexscreener.com",
    "DexScreener, for `social_data`",
  ),
} as const satisfies SettingTable;
