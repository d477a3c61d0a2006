import { isPlainUrl } from "../../base/lib/io/plain-url.ts";
import { type Kind, list, oneOf, type SettingTable, setting, text } from "../../base/settings/index.ts";
import { NETWORK_NAMES } from "./networks.ts";

/** A list of JSON-RPC endpoints, `none` for the empty list. Their paths may contain keys. */
const endpoints: Kind<readonly string[]> = {
  schema: list(text(2_048, isEndpoint)),
  bound: "none, or http://, https://, ws:// or wss:// URLs without a user, separated by commas",
  url: "endpoint",
};

function isEndpoint(text: string): boolean {
  // Without this check, a second address after a space would count as part of the first.
  return isPlainUrl(text, /^(https?|wss?):$/) && !/\s/.test(text);
}

export const CHAIN_SETTINGS = {
  chain: setting("chain", oneOf(NETWORK_NAMES), {
    default: "bsc",
    example: "polygon",
    description: "Chain to follow",
  }),
  rpc: setting("rpc", endpoints, {
    default: "none",
    example: "https://bsc.example.org/v1/KEY,wss://bsc.example.com",
    description: "JSON-RPC endpoints of the chain. Two or more are compared. none: its public endpoints",
  }),
  bscRpc: rpcOf("bscRpc", "BSC"),
  polygonRpc: rpcOf("polygonRpc", "Polygon"),
  avalancheRpc: rpcOf("avalancheRpc", "Avalanche"),
} as const satisfies SettingTable;

function rpcOf<const F extends string>(field: F, chain: string) {
  const name = chain.toLowerCase();
  return setting(field, endpoints, {
    default: "none",
    example: `https://${name}.example.org/v1/KEY,wss://${name}.example.com`,
    description: `JSON-RPC endpoints of ${chain} for the live market. Two or more are compared. none: public endpoints`,
  });
}
