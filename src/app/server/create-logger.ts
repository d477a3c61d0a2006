import { hostname } from "node:os";
import { isatty } from "node:tty";
import { type DestinationStream, type Logger, pino } from "pino";
import { escapeJson } from "../../base/lib/text/plain-text.ts";
import { hideSecrets } from "../../gateway/keys/index.ts";
import { prettyLogLine } from "./pretty-log-line.ts";

const SECRET_FIELDS = ["authorization", "key", "ticket"];

/** Destination of log lines. A terminal receives readable text. */
type LogDestination = DestinationStream & { readonly isTerminal?: boolean };

/**
 * Creates the logger: JSON lines on standard error, text on a terminal. Masks fields that hold keys
 * or tickets, shortens text that looks like one to its public part, and escapes control characters.
 */
export function createLogger(level: string, destination: LogDestination = standardError()): Logger {
  const paths = SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  const { isTerminal = false } = destination;
  const streamWrite = (line: string) => {
    const safe = hideSecrets(line);
    // The log may be shown on a terminal later, too.
    return isTerminal ? prettyLogLine(safe) : `${escapeJson(safe.trimEnd())}\n`;
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
