import { ownCommand } from "../../base/lib/own-command.ts";
import { FlarewireError } from "../../base/protocol/index.ts";
import type { ServiceKeys } from "../../gateway/source/index.ts";
import { FEEDS } from "../feeds.ts";

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

const SERVICES = FEEDS.flatMap(({ keys }) => Object.entries(keys?.variables ?? {}));

/** The variables of the keys of external services. */
export const SERVICE_KEY_VARIABLES = SERVICES.map(([, { variable }]) => variable);

/** Returns the keys of external services, by service. Throws like {@link keyFrom}. */
export function serviceKeysFrom(environment: Readonly<Record<string, string | undefined>>): ServiceKeys {
  return Object.fromEntries(
    SERVICES.map(([service, { variable, owner }]) => [
      service,
      keyFrom(environment, variable, `from ${owner}`),
    ]),
  );
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
