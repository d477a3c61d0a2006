import { systemClock } from "../../../base/lib/time/clock.ts";
import { GROUPS, type Group } from "../../../base/model/index.ts";
import {
  actionAfter,
  FlarewireError,
  flareChannelsOf,
  flarePatternOf,
} from "../../../base/protocol/index.ts";
import { type Stream, StreamError } from "../../../clients/sdk/index.ts";
import { type FlagDefinition, parseFlags } from "../../config/flags.ts";
import { CLIENT_KEY_VARIABLE, keyFrom } from "../../config/key-variables.ts";
import { fetchResource } from "../fetch-resource.ts";
import { EXIT, type ExitCode } from "../shutdown.ts";
import {
  DEFAULT_URL,
  ITEM_PARAMETERS,
  openStream,
  readGroup,
  readStreamAddress,
  type StreamAddress,
} from "../stream-address.ts";
import { describeEnd, describeFailure, exitCodeAfter } from "../tail/connection-report.ts";
import { plainText, wrapText } from "../terminal/plain-text.ts";
import { paintFor, say, type Terminal } from "../terminal/terminal.ts";
import { untilStopped } from "../terminal/until-stopped.ts";
import { readFlares } from "./flare-row.ts";
import { PriceTrends } from "./price-trends.ts";
import { Screen } from "./screen.ts";
import { grabKeys, type KeyGrab, watchJobControl } from "./terminal-control.ts";
import { pageLines, rowsOf, type TopPage } from "./top-page.ts";
import { INITIAL_STATE, SORT_KEYS, settle, stateAfter } from "./top-state.ts";

/** Interval between drawings, whatever the number of events. Keys and a new size draw at once. */
const FRAME_MS = 250;
/** Width of a page that is printed once. Wide enough for all columns. */
const PRINTED_WIDTH = 120;
/** Includes Ctrl-C and Ctrl-D, which raw mode passes on as characters. */
const QUIT_KEYS: ReadonlySet<string> = new Set(["\u0003", "\u0004"]);
const STOP_KEY = "\u001A";
const FLAGS: Readonly<Record<string, FlagDefinition>> = { group: { type: "string" } };

export function topHelp(): string {
  return `Usage: flarewire top [URL] [options]

Shows a server's current flares in a full-screen table, until stopped: first
whether anything was missed and how old the data is. Resumes after a lost
connection. If the output is not a terminal, prints the table once.

URL is the server's (http:// or https://), default ${DEFAULT_URL},
and may have a filter, such as
http://127.0.0.1:8080/?symbols=CAKE&min_liquidity=50000
A flare is shown while it meets the filter; with &sticky=true, from the first
match until it ends.

Options:
  --group GROUP     whose flares: ${GROUPS.slice(0, -1).join(", ")} or ${GROUPS.at(-1)};
                    default: bsc

Keys:
  q, Ctrl-C         quit
  up, down, k, j    select a row; page up, page down, space: by a page;
                    home, end: the first or last
  Enter             why the selected flare flares; again or Esc: close
  /                 show only flares whose symbol, name, address or exchange has this text;
                    Enter: keep, Esc: show all
  f                 the flares that finished within a day, and back
  ?                 show the keys
  Ctrl-Z            suspend; fg in the shell resumes with the current state
${wrapText(
  `sort by a column: ${Object.entries(SORT_KEYS)
    .map(([key, column]) => `${key} ${column}`)
    .join(", ")}; again: reverse`,
  58,
)
  .map((line, at) => `${(at === 0 ? "  a, c, b, e, …" : "").padEnd(20)}${line}`)
  .join("\n")}

A row with ! has warnings. A narrow terminal shows fewer columns.
For a server with keys, set the environment variable ${CLIENT_KEY_VARIABLE}: other
users can read a command line.

Ages refer to the event time of the data. NO_COLOR turns colors off. Exit codes:
0 stopped by the user or printed, 1 rejected by the server for good or an unknown
host, 75 server not reached (if printed once).`;
}

export async function top(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { address, group } = readArguments(args);
  const key = keyFrom(terminal.environment, CLIENT_KEY_VARIABLE);
  const { url } = address;
  const isScreen = terminal.stdout.isTTY === true && terminal.environment.TERM !== "dumb";
  const show = isScreen ? showLive : printOnce;
  return await untilStopped(terminal, async (signal) => {
    const trends = new PriceTrends(() => fetchResource("candles", url, key, signal), systemClock);
    const stream = openStream(address, key, { channels: [flarePatternOf(group)], signal });
    try {
      return await show({ stream, page: pageOf(stream, url.host, group), trends, terminal, signal });
    } catch (error) {
      if (!(error instanceof StreamError) || error.code !== "refused") throw error;
      say(terminal, `flarewire top: ${plainText(error.message, 400)}`);
      return EXIT.usage;
    } finally {
      stream.close();
    }
  });
}

function pageOf(stream: Stream, host: string, group: Group): () => TopPage {
  let started = 0;
  let ended = 0;
  let missed: number | null = 0;
  const [free, pro] = flareChannelsOf(group);
  const isShown = (channel: string) =>
    channel === (readFlares(stream.view, group).list === "pro" ? pro : free);
  stream.on("flare-started", ({ channel }) => {
    if (isShown(channel)) started += 1;
  });
  for (const name of ["flare-finished", "flare-withdrawn"] as const) {
    stream.on(name, ({ channel }: { readonly channel: string }) => {
      if (isShown(channel)) ended += 1;
    });
  }
  stream.on("reset", ({ lost }) => {
    missed = missed === null || lost === null ? null : missed + lost;
  });
  return () => {
    const { connection, freshness, cursor, view } = stream;
    return { host, connection, freshness, cursor, flares: readFlares(view, group), started, ended, missed };
  };
}

interface Showing {
  readonly stream: Stream;
  readonly page: () => TopPage;
  readonly trends: PriceTrends;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** Draws until a quit key or the signal. Rejects if the stream fails. Restores the terminal. */
async function showLive({ stream, page, trends, terminal, signal }: Showing): Promise<ExitCode> {
  const screen = new Screen(terminal.stdout);
  const paint = paintFor(terminal.stdout);
  const trendOf = (address: string) => trends.trendOf(address);
  let state = INITIAL_STATE;
  const settleRows = () => {
    const shown = rowsOf(page(), { ...screen.size, state });
    state = settle(state, shown.rows, shown.lines);
    return shown;
  };
  const draw = () => {
    const now = page();
    void refreshTrends(trends, now);
    settleRows();
    screen.draw(pageLines(now, { ...screen.size, state, trendOf, paint }));
  };
  const resized = () => {
    screen.invalidate();
    draw();
  };
  const leave = () => screen.leave();
  const { stdout } = terminal;
  process.once("exit", leave);
  let keys: KeyGrab | undefined;
  const jobs = watchJobControl({
    pause: () => {
      screen.pause();
      keys?.pause();
    },
    resume: () => {
      keys?.resume();
      screen.enter();
      draw();
    },
  });
  let stop = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      if (signal.aborted) return resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
      stream.on("error", reject);
      keys = grabKeys(terminal.stdin, (pressed) => {
        for (const key of pressed) {
          if (QUIT_KEYS.has(key) || (/^q$/i.test(key) && !state.isTyping)) return resolve();
          const { rows, lines } = settleRows();
          state = stateAfter(state, key, rows, Math.max(1, lines - 1));
        }
        draw();
        if (pressed.includes(STOP_KEY)) jobs.stop();
      });
      screen.enter();
      stdout.on("resize", resized);
      draw();
      stop = systemClock.every(FRAME_MS, draw);
    });
    return EXIT.clean;
  } finally {
    stop();
    stdout.off("resize", resized);
    jobs.dispose();
    keys?.release();
    leave();
    process.off("exit", leave);
  }
}

/**
 * Fetches the last hour's prices for flares of `bsc`; other groups have no candles. Never rejects.
 */
async function refreshTrends(trends: PriceTrends, { flares, freshness }: TopPage): Promise<void> {
  if (flares.group === "bsc")
    await trends.refresh(Date.parse(freshness?.observedAt ?? ""), flares.rows[0]?.id);
}

type Failure = Parameters<typeof describeFailure>[0];

/**
 * Waits for data, reports why there is none yet, and prints the page once. Returns 75 if the server
 * does not respond, and 1 if it refuses for good or its name does not resolve.
 */
async function printOnce({ stream, page, trends, terminal, signal }: Showing): Promise<ExitCode> {
  let lastNotice = "";
  const answer = await new Promise<"there" | "stopped" | Failure>((resolve, reject) => {
    signal.addEventListener("abort", () => resolve("stopped"), { once: true });
    stream.on("error", reject);
    stream.on("reset", () => resolve("there"));
    stream.on("connection", ({ state, reason, code }) => {
      if (state !== "waiting") return;
      if (code === undefined || actionAfter(code) === "stop") return resolve({ reason, code });
      const words = describeEnd({ reason, code });
      if (words !== lastNotice) say(terminal, `flarewire top: ${plainText(words, 2_000)}`);
      lastNotice = words;
    });
  });
  if (answer === "stopped") return EXIT.clean;
  if (answer !== "there") {
    const prefix = answer.code === undefined ? "could not reach the server: " : "";
    say(terminal, `flarewire top: ${prefix}${plainText(describeFailure(answer), 400)}`);
    return exitCodeAfter(answer);
  }
  const paint = paintFor(terminal.stdout);
  await refreshTrends(trends, page());
  const trendOf = (address: string) => trends.trendOf(address);
  const layout = { width: PRINTED_WIDTH, height: Infinity, state: INITIAL_STATE, trendOf, paint };
  const lines = pageLines(page(), layout);
  const text = lines.map((line) => `${line.trimEnd()}\n`).join("");
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    terminal.stdout.write(text, () => resolve());
  });
  return EXIT.clean;
}

function readArguments(args: readonly string[]): { readonly address: StreamAddress; readonly group: Group } {
  const { flags, positionals, problems } = parseFlags(args, FLAGS, 1);
  const wrong = [...problems];
  const address = readStreamAddress(positionals[0] ?? DEFAULT_URL, ITEM_PARAMETERS, wrong);
  const group = readGroup(flags, wrong);
  if (!address || wrong.length > 0) throw new FlarewireError("invalid-setting", wrong.join("\n  "));
  return { address, group };
}
