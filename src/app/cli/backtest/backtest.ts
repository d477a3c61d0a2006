import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import { systemClock } from "../../../base/lib/time/clock.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import { UtcTime } from "../../../gateway/http/index.ts";
import { settingsHelp } from "../../config/config.ts";
import { type FlagDefinition, flagText } from "../../config/flags.ts";
import { openRecording, PLAY_SETTINGS, readPlay } from "../play-recording.ts";
import { EXIT, type ExitCode, watchShutdown } from "../shutdown.ts";
import { plainText } from "../terminal/plain-text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { openSink } from "../terminal/text-sink.ts";
import type { Bot } from "./bot.ts";
import { emptyText } from "./empty-channels.ts";
import { BotError, runBacktest } from "./run-backtest.ts";
import { describeRecord } from "./track-record.ts";
import { describeTrades } from "./trade-report.ts";

const FLAGS: Readonly<Record<string, FlagDefinition>> = {
  bot: { type: "string" },
  from: { type: "string" },
  to: { type: "string" },
  fee: { type: "string" },
  slippage: { type: "string" },
  json: { type: "string" },
};

export function backtestHelp(): string {
  return `Usage: flarewire backtest FILE [options]

Plays a recording at full speed and prints what prices did after its flares, next to other moments of the same tokens.
With a bot, it also prints the bot's trades. Event time waits for the bot: however slow its handlers are, it gets every event
before the market continues. An order fills at the token's next price. The same recording, options and bot give the same bytes.

Options:
  --bot FILE
      A module that exports a function named bot, such as examples/paper-trade.ts.
  --from TIME, --to TIME
      The bot trades from the first time until the second, such as 2017-11-12T08:00:00Z. Default: all of the recording. The
      part before --from is played without the bot; nothing after --to is played, with or without a bot.
  --fee PERCENT
      Cost of each purchase and each sale. Default: 0.25.
  --slippage PERCENT
      How much worse than the token's price an order fills. Default: 0.5.
  --json OUT
      Write the result as JSON to the file OUT, or to standard output instead of the table if OUT is -.
${settingsHelp(PLAY_SETTINGS, { profiles: "none" })}`;
}

export async function backtest(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { config, flags, progress, warn } = readPlay("backtest", FLAGS, args, terminal);
  const text = (name: string) => flagText(flags, name);
  const costs = {
    fee: readPercent("fee", text("fee") ?? "0.25"),
    slippage: readPercent("slippage", text("slippage") ?? "0.5"),
  };
  const [fromMs, toMs] = [
    readTime("from", text("from")) ?? 0,
    readTime("to", text("to")) ?? Number.POSITIVE_INFINITY,
  ];
  if (fromMs > toMs) invalid("from", text("from") ?? "", "a time before --to");
  const botPath = text("bot");
  if (botPath === undefined && text("from") !== undefined)
    invalid("from", text("from") ?? "", "--bot too, because the record counts all flares");
  const bot = botPath === undefined ? undefined : await loadBot(botPath, warn);
  const feed = openRecording(config, progress, warn);
  const shutdown = watchShutdown(process);
  try {
    const result = await runBacktest({
      feed,
      bot,
      refreshMs: config.refreshMs,
      fromMs,
      toMs,
      costs,
      signal: shutdown.signal,
    });
    progress.clear();
    const { summary } = result;
    const { record: figures, ...worth } = summary ?? {};
    const record = { ...figures, ...worth };
    const recordText = summary ? describeRecord(summary.record, result.pending, summary) : "";
    const json = text("json");
    const sink = await openSink(json, terminal.stdout);
    await sink.write(`${JSON.stringify({ record, ...result.report }, undefined, 2)}\n`);
    await sink.close();
    if (json !== "-") {
      const parts = result.report ? [describeTrades(result.report), ""] : [];
      terminal.stdout.write(`${[...parts, recordText].join("\n")}\n`);
    }
    const { followed, groups } = result;
    const empty = emptyText({ followed, groups, flares: summary?.record.flares ?? 0, format: feed.format });
    if (empty !== undefined) warn(empty);
    return EXIT.clean;
  } catch (error) {
    if (!(error instanceof BotError)) throw error;
    for (const line of stackOf(error.cause).split("\n")) warn(plainText(line, 400));
    return EXIT.usage;
  } finally {
    progress.clear();
    shutdown.dispose();
  }
}

/** Longest time that a bot's module may take to load. */
const MAX_LOAD_MS = 10_000;

const BOT = "a module that exports a function named bot";

const MOVE =
  "put its code into export const bot = async ({ connect, buy, sell }) => { … }, and call that connect without an address, as in examples/paper-trade.ts";

const ES_MODULE =
  'an ES module, and its package.json says "type": "commonjs"; rename it to end in .mts, or .mjs for JavaScript, or set "type": "module" there';

/** Returns true if Node found `import` or `export` in a file that it had to read as CommonJS. */
function isCommonJs(path: string, error: unknown): boolean {
  if (/\.m[jt]s$/.test(path)) return false;
  return error instanceof SyntaxError && /outside a module|Unexpected token 'export'/.test(error.message);
}

function loadable(error: unknown): string {
  return `a module that can be loaded (${plainText(messageOf(error), 200)})`;
}

function stackOf(thrown: unknown): string {
  return `the bot failed: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`;
}

/**
 * Returns true for the SDK's error. Compares the name, because the bot may load another copy of the
 * SDK.
 */
function isMisuse(error: unknown): boolean {
  return error instanceof Error && error.name === "StreamError";
}

function expectedOf(path: string, error: unknown): string {
  if (isCommonJs(path, error)) return ES_MODULE;
  return isMisuse(error) ? `${BOT}; this one opens a connection of its own: ${MOVE}` : loadable(error);
}

/**
 * Returns true if the file cannot export a bot. It is then not even run, because a live program
 * might trade.
 */
function hasNoExport(path: string): boolean {
  try {
    return !readFileSync(path, "utf8").includes("export");
  } catch {
    // The import says why the file cannot be read.
    return false;
  }
}

async function loadBot(path: string, warn: (line: string) => void): Promise<Bot> {
  const none = `${BOT}; this one exports none: ${MOVE}`;
  if (hasNoExport(resolve(path))) invalid("bot", path, none);
  const loading: Promise<{ readonly bot?: unknown }> = import(pathToFileURL(resolve(path)).href);
  const over = new AbortController();
  // A program that follows a server at its top level never finishes loading.
  const late = systemClock.sleep(MAX_LOAD_MS, over.signal).then(() => undefined);
  late.catch(() => {});
  const loaded = await Promise.race([loading, late])
    .catch((error: unknown) => invalid("bot", path, expectedOf(path, error)))
    .finally(() => over.abort());
  if (!loaded) {
    warn(`${plainText(path)} does not finish loading; expected ${BOT}: ${MOVE}`);
    // Sockets and timers that the module opened would keep the process running.
    process.exit(EXIT.usage);
  }
  const { bot } = loaded;
  if (typeof bot !== "function") invalid("bot", path, none);
  return (market) => bot(market);
}

function readPercent(flag: string, given: string): number {
  const value = Number(given);
  return given.trim() !== "" && value >= 0 && value < 100
    ? value / 100
    : invalid(flag, given, "a number from 0 to below 100");
}

function readTime(flag: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  return UtcTime.safeParse(given).data ?? invalid(flag, given, "a time in UTC like 2017-11-12T08:00:00Z");
}

function invalid(flag: string, given: string, expected: string): never {
  throw new FlarewireError("invalid-setting", `--${flag} is "${plainText(given)}"; expected ${expected}`);
}
