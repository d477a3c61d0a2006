import { FlarewireError } from "../../base/protocol/index.ts";
import { flagOf } from "../../base/settings/index.ts";
import { ADDRESS_SETTINGS, type GatewaySettings, WEB_SETTINGS } from "../settings/index.ts";

const SETTINGS = { ...ADDRESS_SETTINGS, ...WEB_SETTINGS };

type Address = Pick<GatewaySettings, "host" | "port">;

interface AddressSettings {
  readonly host: "host" | "metricsHost";
  readonly port: "port" | "metricsPort";
}

/**
 * Turns an error of `listen` into `invalid-setting` that suggests another value; `undefined` if no
 * setting is at fault. `names`: the settings of the address.
 */
export function listenProblem(
  error: unknown,
  { host, port }: Address,
  names: AddressSettings = { host: "host", port: "port" },
): FlarewireError | undefined {
  if (!(error instanceof Error && "code" in error && "syscall" in error)) return undefined;
  const { code, syscall } = error;
  if (syscall !== "listen" && syscall !== "getaddrinfo") return undefined;
  const shown = host.includes(":") ? `[${host}]` : host;
  const otherPort = `choose another, for example --${flagOf(names.port)} ${SETTINGS[names.port].example}`;
  const otherHost = `choose one of this machine's addresses, or --${flagOf(names.host)} 0.0.0.0 for all of them`;
  switch (code) {
    case "EADDRINUSE":
      return problem(
        names.port,
        `${port} is already in use on ${shown}: ${otherPort}, or 0 for any free port`,
        error,
      );
    case "EACCES":
      return problem(names.port, `${port} on ${shown} requires elevated privileges: ${otherPort}`, error);
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
      return problem(names.host, `${host} is not an address of this machine: ${otherHost}`, error);
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return problem(names.host, `${host} does not resolve to an address (${code}): ${otherHost}`, error);
    default:
      return undefined;
  }
}

function problem(field: string, message: string, cause: Error): FlarewireError {
  return new FlarewireError("invalid-setting", `${field} = ${message}`, { field, cause });
}
