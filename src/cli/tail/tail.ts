import { once } from "node:events";
import { CLIENT_KEY_VARIABLE, keyFrom } from "../../config/config.ts";
import { type FlagForm, parseFlags } from "../../config/flags.ts";
import { redact } from "../../config/redact.ts";
import { type ExitCode, watchShutdown } from "../../lib/io/shutdown.ts";
import { suggestion } from "../../lib/text/nearest.ts";
import { systemClock } from "../../lib/time/clock.ts";
import {
  CHANNEL_PATTERNS,
  CHANNELS,
  FlarewireError,
  matchChannels,
  parseCursor,
} from "../../protocol/index.ts";
import { plainJson, plainText } from "../terminal/plain-text.ts";
import { isBrokenPipe, paintFor, say, type Terminal } from "../terminal/terminal.ts";
import { eventLine, UPDATES } from "./event-lines.ts";
import { type FollowOptions, followStream } from "./stream-follower.ts";
import type { HelloFrame, SubscribedFrame } from "./stream-frames.ts";
import { SymbolBook } from "./symbol-book.ts";

const DEFAULT_URL = "ws://127.0.0.1:8080/api/v1/stream";
const DEFAULT_CHANNELS = "flares.pro,newest.bsc,status";
const SAMPLE_CURSOR = "8dffafc1dc3c26d1-1042";
const STREAM_PATH = "/api/v1/stream";

const FLAGS: Readonly<Record<string, FlagForm>> = {
  channels: { value: true },
  after: { value: true },
  json: { value: false },
  updates: { value: false },
};

/** What `flarewire tail --help` prints. */
export function tailHelp(): string {
  return `Usage: flarewire tail [URL] [options]

Follows the live events of a server, one a line, until it is stopped. Goes on from where it was after a lost connection,
and says on standard error when it did, or when events are missing. URL may be the stream's (ws:// or wss://), or the
server's (http:// or https://), and may have a filter, as http://127.0.0.1:8080/?symbols=CAKE&min_liquidity=50000;
default ${DEFAULT_URL}. An item is told of while it meets the filter; with &sticky=true, or beside &names=, from when it
first did until it leaves its list.

Options:
  --channels LIST   channels or patterns, separated by commas; default those of the URL, else ${DEFAULT_CHANNELS}
                    (${CHANNELS.join(", ")},
                    flares.*, *, …)
  --after CURSOR    start behind this cursor, as events and answers carry it, for example ${SAMPLE_CURSOR};
                    default: now
  --json            print each event as the server sent it, one JSON object a line
  --updates         print changes of numbers, too, which are many (always printed with --json)

A server that knows keys is shown the one in the environment variable ${CLIENT_KEY_VARIABLE}: what stands in a command line, others can read.

Times are event time, UTC. Colours are used on a terminal only, and not with NO_COLOR set.
Exit codes: 0 stopped by the user or by the reader of the pipe, 1 refused by the server for good, 75 not reached.`;
}

/** `flarewire tail`. */
export async function tail(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { url, after, json, updates } = readArguments(args);
  const key = keyFrom(terminal.environment, CLIENT_KEY_VARIABLE);
  const shutdown = watchShutdown(process);
  const broken = new AbortController();
  terminal.stdout.on("error", (error) => broken.abort(error));
  const notice = (message: string) => say(terminal, `flarewire tail: ${plainText(message, 400)}`);
  const symbols = new SymbolBook();
  const paint = paintFor(terminal.stdout);
  let room: Promise<void> | undefined;
  // One wait for all lines of a turn: a listener for each would be a warning about a leak.
  const print = (line: string) => {
    if (terminal.stdout.write(`${line}\n`)) return undefined;
    room ??= drained(terminal).finally(() => {
      room = undefined;
    });
    return room;
  };
  const follow: FollowOptions = {
    url,
    key,
    ...(after === undefined ? {} : { after }),
    clock: systemClock,
    random: Math.random,
    signal: AbortSignal.any([shutdown.signal, broken.signal]),
    onNotice: notice,
    onSubscribed: (answer, hello, resume) => {
      symbols.learnSnapshot(answer.snapshot ?? {});
      notice(greeting(url, answer, hello, resume));
      const { state = "live", reason = "" } = hello?.freshness ?? {};
      if (state !== "live") notice(`the data is ${state}${reason === "" ? "" : `: ${reason}`}`);
    },
    onEvent: (event) => {
      symbols.learnEvent(event);
      if (json) return print(plainJson(event));
      if (UPDATES.has(event.name) && !updates) return undefined;
      const width = terminal.stdout.isTTY === true ? (terminal.stdout.columns ?? 80) : 400;
      return print(eventLine(event, symbols, paint, width));
    },
  };
  try {
    const code = await followStream(follow);
    if (broken.signal.aborted && !isBrokenPipe(broken.signal.reason)) throw broken.signal.reason;
    return code;
  } finally {
    shutdown.dispose();
  }
}

/** Waits for room in standard output; an error of it ends the command elsewhere, so it counts as room. */
async function drained({ stdout }: Terminal): Promise<void> {
  await once(stdout, "drain").catch(() => {});
}

function greeting(url: URL, answer: SubscribedFrame, hello: HelloFrame | undefined, resume: boolean): string {
  if (answer.resumed === "full" && resume) return `resumed at ${answer.cursor}: nothing was missed`;
  const { lost } = answer;
  if (lost) {
    const count = lost.events === null ? "an unknown number of" : String(lost.events);
    return `${count} events were missed (${lost.reason}): going on from ${answer.cursor}`;
  }
  const market = hello ? `, a ${hello.source.origin} market (${hello.source.name}, ${hello.server})` : "";
  return `following ${url.host}${market}, from ${answer.cursor}`;
}

interface TailArguments {
  readonly url: URL;
  readonly after: string | undefined;
  readonly json: boolean;
  readonly updates: boolean;
}

function readArguments(args: readonly string[]): TailArguments {
  const { flags, positionals, problems } = parseFlags(args, FLAGS, 1);
  const wrong = [...problems];
  const text = positionals[0] ?? DEFAULT_URL;
  const url = streamUrl(text);
  if (!url)
    wrong.push(
      `URL ${JSON.stringify(redact(text))} must be an http, https, ws or wss URL, for example ${DEFAULT_URL}`,
    );
  const given = url?.searchParams.getAll("channels").join() || undefined;
  const channels = textOf(flags.get("channels")) ?? given ?? DEFAULT_CHANNELS;
  const mode = url?.searchParams.get("mode") ?? "events";
  if (mode !== "events")
    wrong.push(
      `mode is ${JSON.stringify(redact(mode))} in the URL, and tail tells every event; leave it out`,
    );
  const unknown = channels.split(",").filter((channel) => matchChannels(channel.trim()).length === 0);
  for (const channel of unknown) {
    wrong.push(
      `channels: ${JSON.stringify(channel)}${suggestion(channel, CHANNEL_PATTERNS)} names no channel; there are ${CHANNELS.join(", ")}`,
    );
  }
  const after = textOf(flags.get("after"));
  if (after === "oldest") {
    wrong.push(
      "--after oldest is not possible: only GET /api/v1/events can start at the oldest event; take a cursor from its answer",
    );
  } else if (after !== undefined && !parseCursor(after)) {
    wrong.push(
      `--after ${JSON.stringify(after)} must be a cursor as the server gives it, for example ${SAMPLE_CURSOR}`,
    );
  }
  if (!url || wrong.length > 0) {
    throw new FlarewireError("invalid-setting", [...wrong].join("\n  "));
  }
  url.searchParams.set("channels", channels.replaceAll(" ", ""));
  return { url, after, json: flags.get("json") === true, updates: flags.get("updates") === true };
}

/** The stream's address out of what the user gave; a server's address gets the stream's path. */
function streamUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  url.protocol = url.protocol.replace(/^http/, "ws");
  if (!/^wss?:$/.test(url.protocol)) return undefined;
  url.hash = "";
  if (!url.pathname.endsWith(STREAM_PATH)) url.pathname = url.pathname.replace(/\/*$/, STREAM_PATH);
  return url;
}

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
