import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { InputError } from "../../../base/lib/input-error.ts";
import { counted } from "../../../base/lib/text/figures.ts";
import { MINUTE_MS, startOf } from "../../../base/lib/time/time.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import {
  BytesEndedError,
  containerProblem,
  intervalProblem,
  readBytes,
  strangeInterval,
  textProblem,
} from "../../../feeds/replay/index.ts";
import { flagText, parseFlags } from "../../config/flags.ts";
import { EXIT, type ExitCode } from "../shutdown.ts";
import { say, type Terminal } from "../terminal/terminal.ts";
import { openSink } from "../terminal/text-sink.ts";
import {
  type CandleRow,
  type Found,
  missingIn,
  type Row,
  readerByShape,
  readerOf,
  readJsonRows,
  splitterFor,
  type TradeRow,
} from "./read-rows.ts";

const ENDINGS = { cut: "truncated", damaged: "damaged" } as const;
/** Maximum size of a file's text, unpacked: it is sorted in memory. */
const MAX_BYTES = 512 * 2 ** 20;
const MAX_FILES = 1_000;
/** Maximum number of lines of all files. They take about 3 GB of memory. */
const MAX_ROWS = 4_000_000;
/** Endings of pairs without a separator. */
const QUOTES = /^(.{2,})(USDT|USDC|FDUSD|TUSD|BUSD|USD|BTC|ETH|BNB|EUR|TRY)$/;

export function importHelp(): string {
  return `Usage: flarewire import FILE... [--pair PAIR] [--out OUT]

Converts candles or trades of other programs into a recording that replay, backtest and serve --file play.
Reads CSV with or without a header, quoted or not, and JSON lists, each plain or as gzip: the archives of Binance (klines,
trades, aggTrades), candles of Kraken and Coinbase, files of freqtrade and ccxt, and others with the columns time, open,
high, low, close and volume, separated by commas, semicolons or tabs.
Times may be in seconds, milliseconds, microseconds or ISO 8601, in any order. Candles must be of one minute.

Options:
  --pair PAIR
      The pair, for files that do not name it. Default: the beginning of the file's name, as in BTCUSDT-1m-2024-01.csv.
  --out OUT
      The file to write. Default: standard output.

The exit code is 1 if a file has no usable line, or more unusable than usable ones.`;
}

/** Converts files of other programs into a recording. */
export async function importFiles(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { flags, positionals, problems } = parseFlags(
    args,
    { pair: { type: "string" }, out: { type: "string" } },
    MAX_FILES,
  );
  const missing = positionals.length === 0 ? ["no file is given"] : [];
  if (problems.length + missing.length > 0)
    throw new FlarewireError("invalid-setting", [...problems, ...missing].join("; "));
  const target = flagText(flags, "out") ?? "-";
  const inputs = new Set(positionals.map(identityOf));
  if (target !== "-" && inputs.has(identityOf(target)))
    throw new FlarewireError("invalid-setting", `--out ${target} would overwrite an input`);
  const rows: Row[] = [];
  for (const path of positionals) {
    const { found, what, first } = await readFile(path).catch((error: unknown) => {
      if (!(error instanceof BytesEndedError) || error.how === "unreadable") throw error;
      throw new InputError(path, `its packed data is ${ENDINGS[error.how]}; download it again`, {
        cause: error,
      });
    });
    const pair = flagText(flags, "pair") ?? pairNamedBy(path);
    const usable = found.flatMap((row) => (row === undefined || row === "quiet" ? [] : row));
    const quiet = found.filter((row) => row === "quiet").length;
    const skipped = found.length - usable.length - quiet;
    const counts = [
      counted(usable.length, what),
      ...(quiet > 0 ? [`${counted(quiet, "minute")} without trades`] : []),
      ...(skipped > 0 ? [`${counted(skipped, "line")} skipped, the first is ${first}`] : []),
    ];
    say(terminal, `${path}: ${counts.join(", ")}`);
    if (found.length === 0) throw new InputError(path, "the file has a header, but no candles or trades");
    if (usable.length <= skipped)
      throw new InputError(path, `${skipped} of ${found.length} lines are unusable; the first is ${first}`);
    if (pair.includes(",") && usable.some((row) => row.pair === undefined))
      throw new InputError(path, `its name is no pair: ${pair}; name the pair with --pair`);
    for (const row of usable) rows.push(row.pair === undefined ? { ...row, pair } : row);
    if (rows.length > MAX_ROWS)
      throw new InputError(path, `more than ${MAX_ROWS} lines in all; import fewer files at a time`);
  }
  const kinds = new Set(rows.map(({ kind }) => kind));
  if (kinds.size > 1) throw new FlarewireError("invalid-input", "some files have candles, others trades");
  rows.sort((one, other) => one.at - other.at);
  const lines = kinds.has("candle")
    ? candleLines(rows.filter(isCandle), positionals[0] ?? "")
    : tradeLines(rows.filter(isTrade));
  const out = await openSink(target, terminal.stdout);
  for (const line of lines) await out.write(`${line}\n`);
  await out.close();
  return EXIT.clean;
}

/**
 * Returns the pair at the beginning of a file's name, as in `CAKEUSDT-1m-2024-01.csv`,
 * `CAKEUSD_1.csv` (Kraken) and `BINANCE_CAKEUSDT, 1.csv` (TradingView).
 */
function pairNamedBy(path: string): string {
  const [name = ""] = basename(path).split(/-(?=\d|\w*rades|USD)|\.(?=csv|tsv|txt|json)/);
  return name.replace(/^[A-Z]+_(\w+), \d+\w*( \(\d+\))?$/, "$1").replace(/(?<=[a-z])_\d+$/i, "");
}

/** Identifies a file, also by way of links. */
function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}` : resolve(path);
}

const isCandle = (row: Row): row is CandleRow => row.kind === "candle";
const isTrade = (row: Row): row is TradeRow => row.kind === "trade";

async function readFile(path: string) {
  const text = await readText(path);
  if (text.trim() === "") throw new InputError(path, "the file is empty");
  const isList = text.startsWith("[");
  const problem = isList ? undefined : textProblem(text.slice(0, 60), path);
  if (problem !== undefined) throw new InputError(path, problem, { line: 1 });
  const json = isList ? readJsonRows(text) : undefined;
  if (isList && !json) throw new InputError(path, "the file is no complete JSON; download it again");
  const { found, lines } = json ? { found: json, lines: [] } : readCsv(path, text);
  const usable = found.find((row) => row !== undefined && row !== "quiet");
  const at = found.indexOf(undefined);
  const first = lines[at] ?? `entry ${at + 1} of the list`;
  const what = Object(usable).kind === "trade" ? "trade" : "candle";
  return { found, what, first: JSON.stringify(first.slice(0, 60)) };
}

async function readText(path: string): Promise<string> {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) throw new InputError(path, `it is a directory; give its files: ${path}/*.csv`);
  if (!stat?.isFile()) throw new InputError(path, "no such file");
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of readBytes(path, () => {})) {
    const problem = bytes === 0 ? containerProblem(chunk, path) : undefined;
    if (problem !== undefined) throw new InputError(path, problem);
    bytes += chunk.length;
    if (bytes > MAX_BYTES)
      throw new InputError(
        path,
        `the file has more than ${MAX_BYTES} bytes of text; import its parts separately`,
      );
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function readCsv(
  path: string,
  text: string,
): { readonly found: readonly Found[]; readonly lines: readonly string[] } {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const top = lines.slice(0, MAX_HEADER_LINES);
  const known = top.findIndex((line) => readerOf(splitterFor(line)(line)) !== undefined);
  const header = known >= 0 ? known : top.findIndex((line) => /^"?[a-z].*[,;\t]/i.test(line));
  const split = splitterFor(lines[Math.max(0, header)] ?? "");
  const names = split(lines[Math.max(0, header)] ?? "");
  const reader = header >= 0 ? readerOf(names) : readerByShape(names);
  if (!reader) throw new InputError(path, lineProblem(names, header >= 0), { line: Math.max(0, header) + 1 });
  const data = lines.slice(header + 1);
  const numbers = numbersProblem(data, lines[Math.max(0, header)] ?? "");
  if (numbers !== undefined) throw new InputError(path, numbers);
  // More fields than columns come of decimal commas; a separator at the end adds an empty one.
  const read = (fields: readonly string[]) =>
    (header >= 0 || fields.length >= names.length) &&
    fields.slice(names.length).every((field) => field === "")
      ? reader(fields)
      : undefined;
  return { found: data.map((line) => read(split(line))), lines: data };
}

/** Names numbers that could be read as others, a thousand times smaller. */
function numbersProblem(data: readonly string[], header: string): string | undefined {
  const separator = header.includes("\t") ? "\t" : ";";
  if (!header.includes(separator)) return undefined;
  const has = (number: RegExp) =>
    data.some((line) => line.split(separator).some((field) => number.test(field)));
  const hasComma = has(/^\d+,\d+$/);
  if (separator === "\t" && hasComma)
    return "its numbers have a decimal comma; export it with semicolons between the columns";
  if (hasComma && has(/^\d{1,3}(\.\d{3})+$/))
    return "its numbers have commas and dots; export it without separators of thousands";
  return undefined;
}

/** A header is in one of these lines. Vendors put their address above it. */
const MAX_HEADER_LINES = 3;
const COLUMNS = "time, open, high, low, close and volume, or time, price, amount and side";

function lineProblem(fields: readonly string[], isHeader: boolean): string {
  const shown = JSON.stringify(fields.join(",").slice(0, 60));
  const missing = isHeader ? missingIn(fields) : [];
  if (missing.length > 0)
    return `the header ${shown} has no column ${missing.join()}; export the candles with it, because flares need it`;
  if (isHeader) return `the header ${shown} has other columns; expected ${COLUMNS}`;
  if (fields.length === 3 && fields.every((field) => !Number.isNaN(Number(field))))
    return `${shown} is a trade without its side, buy or sell, which flares need; download candles of 1 min instead`;
  return `${shown} is neither a known header nor a known kind of line; expected the columns ${COLUMNS}`;
}

/** Checks the interval of the candles, and returns their lines. */
function candleLines(rows: readonly CandleRow[], path: string): Iterable<string> {
  for (const ofPair of Map.groupBy(rows, ({ pair }) => pair).values()) {
    const interval = strangeInterval(ofPair.map(({ at }) => at));
    if (interval !== undefined) throw new InputError(path, intervalProblem(interval));
    const first = new Map<number, CandleRow>();
    for (const row of ofPair) first.set(row.at, first.get(row.at) ?? row);
    const differing = ofPair.filter((row) => `${first.get(row.at)?.amounts}` !== `${row.amounts}`);
    if (differing.length > ofPair.length / MAX_DIFFERING_SHARE) {
      const [{ pair = "" } = {}] = ofPair;
      const reason = `${differing.length} minutes of ${pair} come twice, with other prices: several pairs seem to be joined; import a file of each pair`;
      throw new InputError(path, reason);
    }
  }
  return writtenCandles(rows);
}

/** More candles that differ from an earlier one of the same minute are of another pair. */
const MAX_DIFFERING_SHARE = 10;

function* writtenCandles(rows: readonly CandleRow[]): Generator<string> {
  yield "time_ms,pair,open,high,low,close,volume";
  const written = new Map<string, number>();
  for (const { at, pair = "", amounts } of rows) {
    const openAt = startOf(MINUTE_MS, at);
    if (written.get(pair) === openAt) continue;
    written.set(pair, openAt);
    yield [openAt, pair, ...amounts].join(",");
  }
}

function* tradeLines(rows: readonly TradeRow[]): Generator<string> {
  const facts = { trades: false, liquidity: false, listings: false, profiles: false };
  yield JSON.stringify({ kind: "recording", version: 1, facts, origin: "recorded" });
  for (const { at, pair = "", price, amount, isBuy } of rows) {
    const [base, quote] = partsOf(pair);
    const quoteUsd = (Number(price) * Number(amount)).toFixed(8);
    const side = isBuy ? "buy" : "sell";
    const trade = { kind: "trade", at, group: "exchange", pool: `${base}/${quote}`, token: base, side };
    yield JSON.stringify({ ...trade, price, amount, quoteUsd });
  }
}

/** Returns the base and the quote of a pair such as `BTC/USDT`, `BTC_USDT` or `BTCUSDT`. */
function partsOf(pair: string): readonly [string, string] {
  const [base = pair, quote] = pair.split(/[/_:-]/);
  if (quote !== undefined && quote !== "") return [base, quote];
  const [, own = pair, other = "USD"] = QUOTES.exec(pair.toUpperCase()) ?? [];
  return [own, other];
}
