import { hostname } from "node:os";
import { isatty } from "node:tty";
import { type DestinationStream, type Logger, pino } from "pino";
import { parseJson } from "../../base/lib/parse-json.ts";
import { hideSecrets } from "../../gateway/keys/index.ts";
import { escapeJson, plainJson, plainText } from "../cli/terminal/plain-text.ts";

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

const SHOWN = 2_000;

/**
 * Formats a line of the JSON log for a terminal, without control characters: time of day, level,
 * message, fields as `name=value`, an error's stack below. Other lines stay as they are.
 */
export function prettyLogLine(line: string): string {
  const fields = parse(line);
  if (!fields) return line;
  const { time, level, msg, err, ...rest } = fields;
  const at = new Date(typeof time === "string" ? time : Number.NaN);
  const clock = Number.isNaN(at.getTime()) ? "" : at.toTimeString().slice(0, 8);
  const shown = Object.entries(rest).map(([name, value]) => `${plainText(name)}=${textOf(value)}`);
  const head = [clock, String(level).padEnd(5), plainText(String(msg ?? ""), SHOWN), ...shown];
  return `${[head.filter((part) => part !== "").join(" "), ...stackOf(err)].join("\n")}\n`;
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(line);
  return typeof value === "object" && value !== null ? { ...value } : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" && /^[\w.:/-]+$/.test(value) ? value : plainText(plainJson(value), SHOWN);
}

function stackOf(error: unknown): readonly string[] {
  if (typeof error !== "object" || error === null) return [];
  const { stack, message } = { stack: undefined, message: undefined, ...error };
  const lines = String(stack ?? message ?? plainJson(error)).split("\n");
  return lines.map((line) => `    ${plainText(line.trim(), SHOWN)}`);
}
