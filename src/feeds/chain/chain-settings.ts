import { isPlainUrl } from "../../base/lib/io/plain-url.ts";
import { GROUP_FACTS } from "../../base/model/index.ts";
import { type Kind, list, oneOf, type SettingTable, setting, text } from "../../base/settings/index.ts";
import { NETWORK_NAMES, NETWORKS, type NetworkName } from "./networks.ts";

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
  ...rpcSettings(),
} as const satisfies SettingTable;

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
