import { once } from "node:events";
import { systemClock } from "../../../base/lib/time/clock.ts";
import { GROUPS, type Group } from "../../../base/model/index.ts";
import { CHANNELS, FlarewireError, parseCursor } from "../../../base/protocol/index.ts";
import { type Stream, StreamError } from "../../../clients/sdk/index.ts";
import { type FlagDefinition, flagText, parseFlags } from "../../config/flags.ts";
import { CLIENT_KEY_VARIABLE, keyFrom } from "../../config/key-variables.ts";
import { redact } from "../../config/redact.ts";
import { fetchGranted, fetchResource } from "../fetch-resource.ts";
import { EXIT, type ExitCode } from "../shutdown.ts";
import {
  DEFAULT_URL,
  ITEM_PARAMETERS,
  openStream,
  readGroup,
  readStreamAddress,
  type StreamAddress,
  unknownChannels,
} from "../stream-address.ts";
import { plainJson, plainText, wrapText } from "../terminal/plain-text.ts";
import { paintFor, say, type Terminal } from "../terminal/terminal.ts";
import { untilStopped } from "../terminal/until-stopped.ts";
import { unknownTokens } from "./candle-text.ts";
import { describeFailure, reportConnection } from "./connection-report.ts";
import {
  channelWidth,
  eventLine,
  readEvent,
  runningFlares,
  screenLines,
  type TailEvent,
  UPDATES,
  unknownId,
} from "./event-lines.ts";
import { PrintedNews, PrintedReasons } from "./printed-flares.ts";
import { SymbolIndex } from "./symbol-index.ts";

/** The default channels; `free` for a key without the list `pro`. */
function channelsOf(group: Group, list: "pro" | "free" = "pro"): string {
  return group === "bsc" ? `flares.${list},newest.bsc,status` : `flares.${group}.${list},status`;
}

const SAMPLE_CURSOR = "8dffafc1dc3c26d1-1042";
const URL_PARAMETERS = [...ITEM_PARAMETERS, "names", "channels", "after", "mode"];
/** If no event was printed this long after the start, tail says what it waits for. */
const QUIET_MS = 3_000;

const FLAGS: Readonly<Record<string, FlagDefinition>> = {
  channels: { type: "string" },
  group: { type: "string" },
  after: { type: "string" },
  json: { type: "boolean" },
  updates: { type: "boolean" },
  raw: { type: "boolean" },
};

export function tailHelp(): string {
  return `Usage: flarewire tail [URL] [options]

Prints the live events of a server until it is stopped: on a terminal the time
of day, what happened to which token, and why; into a pipe one line per event.
A percentage next to a token is its price change in the last 5 minutes.
First it prints each flare that is already running (not with --json or --after,
or if the URL's names have no event of flares).
After a lost connection it resumes, and reports on standard error that it did,
or that events are missing.

URL is the server's (http:// or https://) or its stream's (ws:// or wss://),
default ${DEFAULT_URL}, with an optional filter, such as
http://127.0.0.1:8080/?symbols=CAKE&min_liquidity=50000
Prints an item's events while it meets the filter; with &sticky=true, or with
&names=, from when it first did until it leaves its list.

Options:
  --channels LIST   channels or patterns, separated by commas. Default: those of
                    the URL, else ${channelsOf("bsc")}
                    (of these, those that the key includes, and flares.free
                    in place of flares.pro). Known channels and patterns:
${wrapText([...CHANNELS, "flares.*", "*", "…"].join(", "), 58)
  .map((line) => `                    ${line}`)
  .join("\n")}
  --group GROUP     whose flares the default channels have: ${GROUPS.slice(0, -1).join(", ")} or
                    ${GROUPS.at(-1)}; default: bsc
  --after CURSOR    start after this cursor, which events and responses contain,
                    for example ${SAMPLE_CURSOR}; default: now
  --json            print each event as the server sent it, a JSON object a line
  --updates         also print events that only change numbers, which are many
                    (always printed with --json)
  --raw             print one full line per event, also on a terminal, and a
                    finish once for each channel that reports it

The environment variable ${CLIENT_KEY_VARIABLE} contains the key for a server
that requires one; others can read a command line.

Times are event time, UTC. Prints colors on a terminal only, and not if NO_COLOR
is set. Exit codes: 0 stopped by the user or by the reader of the pipe, 1 invalid
options, an unknown host, or refused by the server for good, 75 not reached.`;
}

export async function tail(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const plan = readArguments(args);
  const key = keyFrom(terminal.environment, CLIENT_KEY_VARIABLE);
  return await untilStopped(terminal, async (signal) => {
    const follower: Follower = { plan, key, signal, terminal, symbols: new SymbolIndex(), lacked: [] };
    const channels = plan.channels ?? channelsOf(plan.group);
    // With a key, the request would count against its rate.
    if (plan.channels !== undefined || key !== undefined) return await follow(follower, channels, plan.after);
    // Ask first: a server logs each refusal.
    const granted = await fetchGranted(plan.address.url, signal);
    if (granted.refusal) {
      sayOn(terminal, describeFailure(granted.refusal));
      return EXIT.usage;
    }
    return granted.plan === "free"
      ? await followWithout(follower, proOf(plan.group), channels.split(","), plan.after)
      : await follow(follower, channels, plan.after);
  });
}

interface Follower {
  readonly plan: TailArguments;
  readonly key: string | undefined;
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
  readonly symbols: SymbolIndex;
  /** Default channels that the key lacks. */
  readonly lacked: readonly string[];
}

/** Prints a sentence on standard error. */
function sayOn(terminal: Terminal, message: string): void {
  const text = plainText(`flarewire tail: ${message}`, 2_000);
  const { isTTY, columns } = terminal.stderr;
  say(terminal, isTTY === true ? wrapText(text, columns || 80).join("\n") : text);
}

function proOf(group: TailArguments["group"]): string {
  return channelsOf(group).split(",")[0] ?? "";
}

/** Follows the default channels without one that the key lacks, with `free` instead of `pro`. */
async function followWithout(
  follower: Follower,
  lacked: string,
  channels: readonly string[],
  after: string | undefined,
): Promise<ExitCode> {
  const { plan, terminal } = follower;
  const isPro = lacked === proOf(plan.group);
  const rest = isPro ? channelsOf(plan.group, "free").split(",") : channels.filter((one) => one !== lacked);
  if (rest.some((channel) => channel !== "status")) {
    const without = { ...follower, lacked: [...follower.lacked, lacked] };
    return await follow(without, rest.join(), after);
  }
  sayOn(terminal, "the key includes none of the default channels; name its channels with --channels");
  return EXIT.usage;
}

/**
 * Prints events until the signal aborts, the server refuses the stream, or the first connection
 * fails. Of the default channels, follows those that the key includes, and `free` instead of `pro`.
 */
async function follow(follower: Follower, channels: string, after: string | undefined): Promise<ExitCode> {
  const { plan, key, signal, terminal, symbols } = follower;
  const notice = (message: string) => sayOn(terminal, message);
  const options = { channels: channels.split(","), signal, ...(after === undefined ? {} : { after }) };
  const stream = openStream(plan.address, key, options);
  let code: ExitCode = EXIT.clean;
  const giveUp = (exitCode: ExitCode) => {
    code = exitCode;
    stream.close();
  };
  const { host } = plan.address.url;
  let isUnreported = follower.lacked.length > 0;
  // Said only when a stream has started: before, the key may lack another channel.
  const reportLacked = () => {
    if (isUnreported) notice(lackedText(follower, channels));
    isUnreported = false;
  };
  stream.on("reset", reportLacked);
  stream.on("connection", ({ state }) => {
    if (state === "live") reportLacked();
  });
  reportConnection(stream, { host, resumes: after !== undefined, notice, giveUp });
  const print = printerOf(follower, stream, channelWidth(options.channels));
  const over = new AbortController();
  let hasPrinted = false;
  systemClock.sleep(QUIET_MS, AbortSignal.any([signal, over.signal])).then(
    () => {
      const { state, reason } = stream.connection;
      if (state === "live" && !hasPrinted) notice(quietText(plan, channels));
      else if (state === "connecting" && reason === "") notice(`waiting for a response from ${host}`);
    },
    () => {},
  );
  try {
    for await (const item of stream) {
      if (signal.aborted) break;
      if (item.name === "reset") {
        symbols.learnSnapshot(item.view ?? {});
        if (plan.json || item.reason !== "started" || !selectsFlares(plan.address)) continue;
        const { observedAt } = stream.freshness ?? {};
        for (const flare of observedAt ? runningFlares(item.view, observedAt) : []) await print(flare);
      } else hasPrinted = (await print(item)) || hasPrinted;
    }
    return code;
  } catch (error) {
    if (!(error instanceof StreamError) || error.code !== "refused") throw error;
    const { code: status, reason } = stream.connection;
    const isForbidden = status === 403 && plan.channels === undefined;
    const lacked =
      isForbidden && options.channels.find((channel) => reason.split(/[^\w.]+/).includes(channel));
    if (lacked) return await followWithout(follower, lacked, options.channels, stream.cursor);
    notice(describeFailure(stream.connection));
    return EXIT.usage;
  } finally {
    over.abort();
    stream.close();
  }
}

/** Whether a filter with names selects events of flares. */
function selectsFlares({ filter: { names } }: StreamAddress): boolean {
  return names?.some((name) => name.startsWith("flare-")) ?? true;
}

function lackedText({ key, lacked }: Follower, channels: string): string {
  const why =
    key === undefined
      ? `without a key in ${CLIENT_KEY_VARIABLE}, the server does not send`
      : "the key does not include";
  return `${why} ${lacked.join(", ")}: following ${channels}`;
}

/** Says what may come and when, so that silence does not look like a fault. */
function quietText({ json, updates }: TailArguments, channels: string): string {
  const rare = channels.includes("flares.") && !updates ? "; the next flare may take some minutes" : "";
  const more = json || updates ? "" : "; --updates prints changes of numbers too";
  return `waiting for events of ${channels.replaceAll(",", ", ")}${rare}${more}`;
}

/**
 * Returns a function that prints an event and waits until the output has room again. It resolves
 * with false if the event is not to be printed.
 */
function printerOf({ plan, key, signal, terminal, symbols }: Follower, stream: Stream, width: number) {
  const { stdout } = terminal;
  const paint = paintFor(stdout);
  const news = new PrintedNews();
  const reasons = new PrintedReasons();
  let isLookedUp = false;
  /** Tokens of the last candles that the server's lists did not name. */
  let unnamed: ReadonlySet<string> = new Set();
  let day = "";
  const lookUp = async () => {
    const name = plan.group === "bsc" ? "snapshot" : (`snapshot?group=${plan.group}` as const);
    symbols.learnSnapshot(await fetchResource(name, plan.address.url, key, signal));
  };
  /** Candles name no symbols, so asks the server for each new token's symbol once. */
  const lookUpTokens = async ({ data }: TailEvent) => {
    const unknown = unknownTokens(data, symbols);
    if (unknown.some((address) => !unnamed.has(address))) await lookUp();
    unnamed = new Set(unknown);
  };
  const linesOf = (event: TailEvent): readonly string[] => {
    if (plan.raw || stdout.isTTY !== true) return [eventLine(event, symbols, paint, width)];
    const columns = stdout.columns || 80;
    const before = day;
    day = event.observed_at.slice(0, 10);
    const heading = day === before ? [] : [paint("dim", plainText(`${day}, UTC`, columns))];
    return [...heading, ...screenLines(event, symbols, paint, columns)];
  };
  return async (item: unknown): Promise<boolean> => {
    const event = readEvent(item);
    if (!event) return false;
    symbols.learnEvent(event);
    if (!plan.json && UPDATES.has(event.name) && !plan.updates) return false;
    // The stream has sent no lists if it resumed, and maintains none if the filter selects names.
    if (!plan.json && !stream.view && !isLookedUp && unknownId(event, symbols) !== undefined) {
      isLookedUp = true;
      await lookUp();
    }
    if (!plan.json && event.name === "candles-closed") await lookUpTokens(event);
    if (!plan.json && !plan.raw && news.isRepeated(event)) return false;
    const shown = plan.raw || plan.json ? event : reasons.shorten(event);
    if (!shown) return false;
    const text = plan.json ? plainJson(item) : linesOf(shown).join("\n");
    // An error of the output aborts the signal.
    if (!stdout.write(`${text}\n`)) await once(stdout, "drain", { signal }).catch(() => {});
    return true;
  };
}

interface TailArguments {
  readonly address: StreamAddress;
  /** `undefined`: the default. */
  readonly channels: string | undefined;
  readonly group: Group;
  readonly after: string | undefined;
  readonly json: boolean;
  readonly updates: boolean;
  readonly raw: boolean;
}

function readArguments(args: readonly string[]): TailArguments {
  const { flags, positionals, problems } = parseFlags(args, FLAGS, 1);
  const wrong = [...problems];
  const address = readStreamAddress(positionals[0] ?? DEFAULT_URL, URL_PARAMETERS, wrong);
  const query = address?.query ?? new URLSearchParams();
  const given = flagText(flags, "channels") ?? (query.getAll("channels").join() || undefined);
  const channels = given?.replaceAll(" ", "");
  const group = readGroup(flags, wrong);
  if (flags.has("group") && channels !== undefined)
    wrong.push("--group chooses the default channels; leave it out, or leave out the channels");
  const mode = query.get("mode") ?? "events";
  if (mode !== "events")
    wrong.push(
      `mode is ${JSON.stringify(redact(mode))} in the URL, but tail prints every event; leave it out`,
    );
  wrong.push(...unknownChannels(channels?.split(",") ?? []));
  const after = flagText(flags, "after") ?? query.get("after") ?? undefined;
  if (after === "oldest") {
    wrong.push(
      "--after oldest is not possible: only GET /api/v1/events can start at the oldest event; take a cursor from its response",
    );
  } else if (after !== undefined && !parseCursor(after)) {
    wrong.push(
      `--after ${JSON.stringify(after)} must be a cursor as the server sends it, for example ${SAMPLE_CURSOR}`,
    );
  }
  if (!address || wrong.length > 0) throw new FlarewireError("invalid-setting", wrong.join("\n  "));
  return {
    address,
    channels,
    group,
    after,
    json: flags.get("json") === true,
    updates: flags.get("updates") === true,
    raw: flags.get("raw") === true,
  };
}
