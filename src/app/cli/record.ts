import { counted } from "../../base/lib/text/figures.ts";
import { parseDuration } from "../../base/lib/text/quantity.ts";
import { systemClock } from "../../base/lib/time/clock.ts";
import { FlarewireError } from "../../base/protocol/index.ts";
import { Recorder, recordFeed } from "../../feeds/record/index.ts";
import type { Feed } from "../../gateway/source/index.ts";
import { feedFlags, loadConfig, type SettingName, serviceKeysFrom, settingsHelp } from "../config/config.ts";
import type { FlagDefinition } from "../config/flags.ts";
import { openMarket } from "../market.ts";
import { createLogger } from "../server/create-logger.ts";
import { EXIT, type ExitCode, watchShutdown } from "./shutdown.ts";
import { plainText } from "./terminal/plain-text.ts";
import { say, type Terminal } from "./terminal/terminal.ts";

const SETTINGS: readonly SettingName[] = [
  "feed",
  "speed",
  "warmup",
  ...feedFlags(({ name, polled }) => name !== "record" && polled === undefined),
  "recordBytes",
  "logLevel",
  "config",
];
const FLAGS: Readonly<Record<string, FlagDefinition>> = { for: { type: "string" } };

export function recordHelp(): string {
  return `Usage: flarewire record DIRECTORY [options]

Writes all that a feed reports into a new directory within DIRECTORY, named after the start time, until SIGTERM, SIGINT or the feed's end.
flarewire replay and serve --file read that directory and produce the same bytes as the feed itself. The files are
gzipped lines of JSON: zcat reads them. A killed process loses its last second. Prints the directory.

Options:
  --for DURATION
      Stop after this much event time, for example 10m, which takes ten minutes on a market at speed 1.
${settingsHelp(SETTINGS)}`;
}

export async function record(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { environment } = terminal;
  const { config, flags } = loadConfig({
    args,
    environment,
    settings: SETTINGS,
    flags: FLAGS,
    positionals: ["record"],
  });
  if (config.record === "none")
    throw new FlarewireError(
      "invalid-setting",
      "argument DIRECTORY must be the path of a directory, got none",
    );
  const maxMs = readSpan(flags.get("for"));
  const logger = createLogger(config.logLevel);
  const keys = serviceKeysFrom(environment);
  // This command writes the recording itself.
  const { feed } = openMarket({ ...config, record: "none" }, { clock: systemClock, logger, keys });
  const { record: directory, recordBytes: maxBytes } = config;
  const recorder = new Recorder({ directory, maxBytes, feed, clock: systemClock });
  terminal.stdout.write(`${recorder.directory}\n`);
  const shutdown = watchShutdown(process);
  try {
    await run(feed, recorder, maxMs, shutdown.signal);
    if (recorder.failure) throw recorder.failure;
    const { events, parts, bytes } = recorder;
    say(
      terminal,
      `recorded ${events} market events in ${counted(parts, "part")}, ${bytes} bytes: ${plainText(recorder.directory)}`,
    );
    return EXIT.clean;
  } finally {
    shutdown.dispose();
  }
}

/** Records until the feed's end, the signal, or `maxMs` of event time. Stops if writing fails. */
async function run(feed: Feed, recorder: Recorder, maxMs: number, signal: AbortSignal): Promise<void> {
  const broken = new AbortController();
  const recorded = recordFeed(feed, recorder, (error) => broken.abort(error));
  let endAtMs: number | undefined;
  for await (const event of recorded.events(AbortSignal.any([signal, broken.signal]))) {
    endAtMs ??= event.at + maxMs;
    if (event.kind === "clock" && event.at >= endAtMs) break;
  }
}

function readSpan(given: string | boolean | undefined): number {
  if (given === undefined) return Number.POSITIVE_INFINITY;
  const span = parseDuration(String(given));
  if (span !== undefined && span > 0) return span;
  const message = `for = ${JSON.stringify(given)} (flag --for) must be a duration above 0 (units ms, s, m, h, d), for example 10m`;
  throw new FlarewireError("invalid-setting", message);
}
