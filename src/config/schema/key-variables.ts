import { FlarewireError } from "../../protocol/index.ts";

/* Variables that hold a key. No settings: a command line is public, a settings file no safe. */

/** The key of client commands, such as `tail`. */
export const CLIENT_KEY_VARIABLE = "FLAREWIRE_CLIENT_KEY";

/** The key that `serve` sends to the server that it follows. */
export const LEADER_KEY_VARIABLE = "FLAREWIRE_LEADER_KEY";

/** The key for Etherscan. */
export const ETHERSCAN_KEY_VARIABLE = "FLAREWIRE_ETHERSCAN_KEY";

/** Returns the variable's key, if set. Throws `invalid-setting`, without the value. */
export function keyFrom(
  environment: Readonly<Record<string, string | undefined>>,
  variable: string,
): string | undefined {
  const key = environment[variable] || undefined;
  if (key === undefined || /^[\x21-\x7E]+$/.test(key)) return key;
  const origin = variable === ETHERSCAN_KEY_VARIABLE ? "from Etherscan" : "from flarewire keys add";
  const bound = `a key ${origin}, without spaces or line breaks`;
  throw new FlarewireError("invalid-setting", `${variable} must be ${bound}`);
}
