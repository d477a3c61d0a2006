import { FlarewireError } from "../../protocol/index.ts";

/*
 * Environment variables that hold a key. They are no settings: what stands in a command line, others can read, and a file of settings is no place
 * for secrets.
 */

/** What commands that are clients read their key from. */
export const CLIENT_KEY_VARIABLE = "FLAREWIRE_CLIENT_KEY";

/** What `serve` reads the key from that it shows the server that it follows. */
export const LEADER_KEY_VARIABLE = "FLAREWIRE_LEADER_KEY";

/** What Etherscan is asked with. */
export const ETHERSCAN_KEY_VARIABLE = "FLAREWIRE_ETHERSCAN_KEY";

/** The key in this variable; `undefined` where it is empty or not set. Throws FlarewireError `invalid-setting`, without the value, for what can be no key. */
export function keyFrom(
  environment: Readonly<Record<string, string | undefined>>,
  variable: string,
): string | undefined {
  const key = environment[variable] || undefined;
  if (key === undefined || /^[\x21-\x7E]+$/.test(key)) return key;
  const origin = variable === ETHERSCAN_KEY_VARIABLE ? "Etherscan gives it" : "flarewire keys add prints it";
  const bound = `a key as ${origin}, without spaces and line breaks`;
  throw new FlarewireError("invalid-setting", `${variable} must be ${bound}`);
}
