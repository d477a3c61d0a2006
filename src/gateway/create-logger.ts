import { hostname } from "node:os";
import { isatty } from "node:tty";
import { type DestinationStream, type Logger, pino } from "pino";
import { hideSecrets } from "../keys/index.ts";
import { prettyLogLine } from "./pretty-log-line.ts";

/** Fields in which a key or a ticket may stand, whatever its form. */
const SECRET_FIELDS = ["authorization", "key", "ticket"];

/** Where log lines go; as a terminal, it is sent text for people. */
export type LogDestination = DestinationStream & { readonly isTerminal?: boolean };

/**
 * The log on standard error: JSON, one object a line, with the time in ISO 8601 and the level by name; on a terminal
 * text instead. No key and no ticket gets into it: fields that are made for them are left out, and what has their
 * form, wherever in a line, is cut to the part that is no secret.
 */
export function createLogger(level: string, destination: LogDestination = standardError()): Logger {
  const paths = SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  const { isTerminal = false } = destination;
  const streamWrite = (line: string) => {
    const safe = hideSecrets(line);
    return isTerminal ? prettyLogLine(safe) : safe;
  };
  return pino(
    {
      level,
      base: isTerminal ? null : { pid: process.pid, hostname: hostname() },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (name) => ({ level: name }) },
      redact: { paths, censor: "***" },
      hooks: { streamWrite },
    },
    destination,
  );
}

function standardError(): LogDestination {
  return Object.assign(pino.destination({ dest: 2, sync: true }), { isTerminal: isatty(2) });
}
