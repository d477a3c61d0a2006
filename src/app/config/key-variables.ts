import { ownCommand } from "../../base/lib/own-command.ts";
import { FlarewireError } from "../../base/protocol/index.ts";

/*
 * Variables that hold a key. They are not settings, because other users can read a command line,
 * and a settings file is no safe place for a key.
 */

/** The key of client commands, such as `tail`. */
export const CLIENT_KEY_VARIABLE = "FLAREWIRE_CLIENT_KEY";

/** The key that `serve` sends to the server that it follows. */
export const LEADER_KEY_VARIABLE = "FLAREWIRE_LEADER_KEY";

/** The password of the servers of a cluster, and of their Sentinels. */
export const CLUSTER_PASSWORD_VARIABLE = "FLAREWIRE_CLUSTER_PASSWORD";

/** The keys of services that provide facts about tokens. */
export const ENRICHER_KEY_VARIABLES = {
  etherscan: "FLAREWIRE_ETHERSCAN_KEY",
  coingecko: "FLAREWIRE_COINGECKO_KEY",
} as const;

/** Returns the keys of the services that have one. Throws like {@link keyFrom}. */
export function enricherKeysFrom(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<keyof typeof ENRICHER_KEY_VARIABLES, string | undefined>> {
  return {
    etherscan: keyFrom(environment, ENRICHER_KEY_VARIABLES.etherscan, "from Etherscan"),
    coingecko: keyFrom(environment, ENRICHER_KEY_VARIABLES.coingecko, "from CoinGecko"),
  };
}

/** Returns the variable's key, if set. Throws `invalid-setting`, without the value. */
export function keyFrom(
  environment: Readonly<Record<string, string | undefined>>,
  variable: string,
  origin = `from ${ownCommand("keys add")}`,
): string | undefined {
  const key = environment[variable] || undefined;
  if (key === undefined || /^[\x21-\x7E]+$/.test(key)) return key;
  const bound = `a key ${origin}, without spaces or line breaks`;
  throw new FlarewireError("invalid-setting", `${variable} must be ${bound}`);
}
