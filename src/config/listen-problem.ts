import { FlarewireError } from "../protocol/index.ts";
import { type Config, SETTINGS } from "./schema/settings.ts";

/** The settings that decide where a gateway listens. */
type Slot = Pick<Config, "host" | "port">;

/**
 * What an error of the attempt to listen means to the user: FlarewireError `invalid-setting` that names the setting (`field`), its
 * value and a value that would do, with the error as its cause. `undefined` for an error of any other kind: it is told as it is.
 */
export function listenProblem(error: unknown, { host, port }: Slot): FlarewireError | undefined {
  if (!(error instanceof Error && "code" in error && "syscall" in error)) return undefined;
  const { code, syscall } = error;
  if (syscall !== "listen" && syscall !== "getaddrinfo") return undefined;
  const at = host.includes(":") ? `[${host}]` : host;
  const otherPort = `choose another, for example --port ${SETTINGS.port.example}`;
  const otherHost = `choose one of its own, for example --host ${SETTINGS.host.example} for all of them`;
  switch (code) {
    case "EADDRINUSE":
      return problem("port", `${port} is taken on ${at}: ${otherPort}, or 0 for any that is free`, error);
    case "EACCES":
      return problem("port", `${port} may not be used on ${at} without more rights: ${otherPort}`, error);
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
      return problem("host", `${host} is no address of this machine: ${otherHost}`, error);
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return problem("host", `${host} is a name without an address here (${code}): ${otherHost}`, error);
    default:
      return undefined;
  }
}

function problem(field: "host" | "port", words: string, cause: Error): FlarewireError {
  return new FlarewireError("invalid-setting", `${field} = ${words}`, { field, cause });
}
