import { type Stream, StreamError } from "../../client/index.ts";
import { CLIENT_KEY_VARIABLE, keyFrom } from "../../config/config.ts";
import { type FlagForm, parseFlags } from "../../config/flags.ts";
import { EXIT, type ExitCode } from "../../lib/io/shutdown.ts";
import { type Clock, systemClock } from "../../lib/time/clock.ts";
import { actionAfter, FlarewireError } from "../../protocol/index.ts";
import {
  DEFAULT_URL,
  ITEM_PARAMETERS,
  openStream,
  readStreamAddress,
  type StreamAddress,
} from "../stream-address.ts";
import { describeEnd } from "../tail/connection-report.ts";
import { watchJobControl } from "../terminal/job-control.ts";
import { plainText } from "../terminal/plain-text.ts";
import { paintFor, say, type Terminal } from "../terminal/terminal.ts";
import { untilStopped } from "../terminal/until-stopped.ts";
import { readFlares } from "./flare-row.ts";
import type { Order } from "./flare-table.ts";
import { grabKeys, type KeyGrab } from "./key-grab.ts";
import { Screen } from "./screen.ts";
import { firstAfter } from "./scroll.ts";
import { pageLines, rowsInSight, SORT_KEYS, type TopPage } from "./top-page.ts";

/** Draws at most four times per second, whatever the number of events. */
const FRAME_MS = 250;
/** Width of a page that is printed once. Wide enough for all columns. */
const PRINTED_WIDTH = 120;
/** Includes Ctrl-C and Ctrl-D, which raw mode passes on as characters. */
const QUIT_KEYS: ReadonlySet<string> = new Set(["q", "Q", "\u0003", "\u0004"]);
const STOP_KEY = "\u001A";
const NEWEST_FIRST: Order = { by: "age", reversed: false };
const FLAGS: Readonly<Record<string, FlagForm>> = {};

export function topHelp(): string {
  return `Usage: flarewire top [URL]

Shows a server's current flares and the age of its data in a full-screen table, until stopped. Resumes after a lost
connection. If the output is not a terminal, prints the table once. URL is the server's (http:// or https://), and may have a
filter, such as http://127.0.0.1:8080/?symbols=CAKE&min_liquidity=50000; default ${DEFAULT_URL}.
A flare is shown while it meets the filter; with &sticky=true, from the first match until it ends.

Keys:
  q, Ctrl-C         quit
  up, down, k, j    scroll by a row; page up, page down, space: by a page; home, end: to the first or last
  Ctrl-Z            suspend; fg in the shell resumes with the current state
  ${Object.entries(SORT_KEYS)
    .map(([key, column]) => `${key} ${column}`)
    .join(", ")}
                    sort by this column; again: reverse

A row with ! has warnings of the canary. A narrow terminal shows fewer columns; the names of warnings disappear first.
For a server with keys, set the environment variable ${CLIENT_KEY_VARIABLE}: other users can read a command line.

Ages refer to the event time of the data. NO_COLOR turns colors off.
Exit codes: 0 stopped by the user or printed, 1 rejected by the server for good, 75 server not reached (if printed once).`;
}

export async function top(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const address = readArguments(args);
  const key = keyFrom(terminal.environment, CLIENT_KEY_VARIABLE);
  const isScreen = terminal.stdout.isTTY === true && terminal.environment.TERM !== "dumb";
  const show = isScreen ? showLive : printOnce;
  return await untilStopped(terminal, async (signal) => {
    const stream = openStream(address, key, { channels: ["flares.*"], signal });
    try {
      return await show(stream, pageOf(stream, address.url.host), terminal, signal);
    } catch (error) {
      if (!(error instanceof StreamError) || error.code !== "refused") throw error;
      say(terminal, `flarewire top: ${plainText(error.message, 400)}`);
      return EXIT.usage;
    } finally {
      stream.close();
    }
  });
}

function pageOf(stream: Stream, host: string): () => TopPage {
  let started = 0;
  let ended = 0;
  let missed: number | null = 0;
  const isShown = (channel: string) => channel === `flares.${readFlares(stream.view).list}`;
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
    return { host, connection, freshness, cursor, flares: readFlares(view), started, ended, missed };
  };
}

/** Draws until a key or the signal. Rejects if the stream fails. Restores the terminal. */
async function showLive(
  stream: Stream,
  page: () => TopPage,
  terminal: Terminal,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<ExitCode> {
  const screen = new Screen(terminal.stdout);
  const paint = paintFor(terminal.stdout);
  let order = NEWEST_FIRST;
  let first = 0;
  const inSight = () => rowsInSight(page().flares.rows.length, screen.size.height, first);
  const draw = () => {
    ({ first } = inSight());
    screen.draw(pageLines(page(), { ...screen.size, first, order, paint }));
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
      screen.resume();
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
        if (pressed.some((key) => QUIT_KEYS.has(key))) return resolve();
        for (const key of pressed) {
          order = orderAfter(order, key);
          first = firstAfter(key, inSight());
        }
        draw();
        if (pressed.includes(STOP_KEY)) jobs.stop();
      });
      screen.enter();
      stdout.on("resize", resized);
      draw();
      stop = clock.every(FRAME_MS, draw);
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

/** Returns the order after a key: sorts by its column, or reverses the order if it already does. */
function orderAfter(order: Order, key: string): Order {
  const by = Object.hasOwn(SORT_KEYS, key) ? SORT_KEYS[key] : undefined;
  if (by === undefined) return order;
  return { by, reversed: by === order.by && !order.reversed };
}

/**
 * Prints the page once there is data, and says meanwhile why there is none. Returns 75 if the
 * server does not respond.
 */
async function printOnce(
  stream: Stream,
  page: () => TopPage,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  let said = "";
  const answer = await new Promise<"there" | "stopped" | { readonly reason: string }>((resolve, reject) => {
    signal.addEventListener("abort", () => resolve("stopped"), { once: true });
    stream.on("error", reject);
    stream.on("reset", () => resolve("there"));
    stream.on("connection", ({ state, reason, code }) => {
      if (state !== "waiting") return;
      if (code === undefined || actionAfter(code) === "stop") return resolve({ reason });
      const words = describeEnd({ reason, code });
      if (words !== said) say(terminal, `flarewire top: ${plainText(words, 2_000)}`);
      said = words;
    });
  });
  if (answer === "stopped") return EXIT.clean;
  if (answer !== "there") {
    say(terminal, `flarewire top: could not reach the server: ${plainText(answer.reason, 400)}`);
    return EXIT.retry;
  }
  const paint = paintFor(terminal.stdout);
  const lines = pageLines(page(), { width: PRINTED_WIDTH, height: Infinity, order: NEWEST_FIRST, paint });
  const text = lines.map((line) => `${line.trimEnd()}\n`).join("");
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    terminal.stdout.write(text, () => resolve());
  });
  return EXIT.clean;
}

function readArguments(args: readonly string[]): StreamAddress {
  const { positionals, problems } = parseFlags(args, FLAGS, 1);
  const wrong = [...problems];
  const address = readStreamAddress(positionals[0] ?? DEFAULT_URL, ITEM_PARAMETERS, wrong);
  if (!address || wrong.length > 0) throw new FlarewireError("invalid-setting", wrong.join("\n  "));
  return address;
}
