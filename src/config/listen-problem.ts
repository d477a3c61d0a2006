import { FlarewireError } from "../protocol/index.ts";
import { type Config, SETTINGS } from "./schema/settings.ts";

type Address = Pick<Config, "host" | "port">;

/** Turns an error of `listen` into `invalid-setting` with a value that would work, if possible. */
export function listenProblem(error: unknown, { host, port }: Address): FlarewireError | undefined {
  if (!(error instanceof Error && "code" in error && "syscall" in error)) return undefined;
  const { code, syscall } = error;
  if (syscall !== "listen" && syscall !== "getaddrinfo") return undefined;
  const at = host.includes(":") ? `[${host}]` : host;
  const otherPort = `choose another, for example --port ${SETTINGS.port.example}`;
  const otherHost = `choose one of its own, or --host ${SETTINGS.host.example} for all of them`;
  switch (code) {
    case "EADDRINUSE":
      return problem(
        "port",
        `${port} is already in use on ${at}: ${otherPort}, or 0 for any free port`,
        error,
      );
    case "EACCES":
      return problem("port", `${port} on ${at} requires elevated privileges: ${otherPort}`, error);
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
      return problem("host", `${host} is not an address of this machine: ${otherHost}`, error);
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return problem("host", `${host} does not resolve to an address (${code}): ${otherHost}`, error);
    default:
      return undefined;
  }
}

function problem(field: "host" | "port", message: string, cause: Error): FlarewireError {
  return new FlarewireError("invalid-setting", `${field} = ${message}`, { field, cause });
}
