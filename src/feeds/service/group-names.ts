import type { GroupName } from "../../base/model/index.ts";

/**
 * How public services name a group's chain. A service without a name here is not asked about it.
 */
interface ServiceNames {
  readonly coingecko?: string;
  readonly dexscreener?: string;
  readonly geckoterminal?: string;
}

const NAMES: Readonly<Partial<Record<GroupName, ServiceNames>>> = {
  bsc: { coingecko: "binance-smart-chain", dexscreener: "bsc", geckoterminal: "bsc" },
  matic: { coingecko: "polygon-pos", dexscreener: "polygon", geckoterminal: "polygon_pos" },
  avalanche: { coingecko: "avalanche", dexscreener: "avalanche", geckoterminal: "avax" },
  solana: { coingecko: "solana", dexscreener: "solana", geckoterminal: "solana" },
  base: { coingecko: "base", dexscreener: "base", geckoterminal: "base" },
  ethereum: { coingecko: "ethereum", dexscreener: "ethereum", geckoterminal: "eth" },
  // CoinGecko's name for it is not known.
  robinhood: { dexscreener: "robinhood", geckoterminal: "robinhood" },
};

/** Returns how a service names the group's chain; `undefined` if it is not asked about it. */
export function nameAt(service: keyof ServiceNames, group: GroupName): string | undefined {
  return NAMES[group]?.[service];
}
