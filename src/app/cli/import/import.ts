import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { InputError } from "../../../base/lib/input-error.ts";
import { MINUTE_MS, startOf } from "../../../base/lib/time/time.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import {
  containerProblem,
  intervalProblem,
  readBytes,
  strangeInterval,
} from "../../../feeds/replay/index.ts";
import { flagText, parseFlags } from "../../config/flags.ts";
import { EXIT, type ExitCode } from "../shutdown.ts";
import { say, type Terminal } from "../terminal/terminal.ts";
import { openSink } from "../terminal/text-sink.ts";
import {
  type CandleRow,
  type Row,
  readerByShape,
  readerOf,
  readJsonRows,
  splitLine,
  type TradeRow,
} from "./read-rows.ts";

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
trades, aggTrades), files of freqtrade and ccxt, and others with the columns time, open, high, low, close and volume.
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
    const found = await readFile(path);
    const pair = flagText(flags, "pair") ?? basename(path).split(/-|\.(?=csv|json)/)[0];
    const usable = found.rows.flatMap((row) => row ?? []);
    const skipped = found.rows.length - usable.length;
    say(
      terminal,
      `${path}: ${usable.length} ${found.what}${skipped > 0 ? `, ${skipped} lines skipped` : ""}`,
    );
    if (usable.length <= skipped)
      throw new InputError(path, `${skipped} of ${found.rows.length} lines are unusable`);
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

/** Identifies a file, also by way of links. */
function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}` : resolve(path);
}

const isCandle = (row: Row): row is CandleRow => row.kind === "candle";
const isTrade = (row: Row): row is TradeRow => row.kind === "trade";

async function readFile(path: string) {
  const text = await readText(path);
  const json = text.startsWith("[") ? readJsonRows(text) : undefined;
  const rows = json ?? readCsv(path, text);
  const first = rows.find((row) => row !== undefined);
  return { rows, what: first?.kind === "trade" ? "trades" : "candles" };
}

async function readText(path: string): Promise<string> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw new InputError(path, "no such file");
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of readBytes(path, () => {})) {
    const problem = bytes === 0 ? containerProblem(chunk) : undefined;
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

function readCsv(path: string, text: string): readonly (Row | undefined)[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const header = lines.findIndex((line) => readerOf(splitLine(line)) !== undefined);
  const isHeader = header >= 0 && header < 3;
  const reader = isHeader
    ? readerOf(splitLine(lines[header] ?? ""))
    : readerByShape(splitLine(lines[0] ?? ""));
  if (!reader) {
    const shown = JSON.stringify((lines[0] ?? "").slice(0, 60));
    throw new InputError(path, `${shown} is neither a known header nor a known kind of line`, { line: 1 });
  }
  return lines.slice(isHeader ? header + 1 : 0).map((line) => reader(splitLine(line)));
}

/** Checks the interval of the candles, and returns their lines. */
function candleLines(rows: readonly CandleRow[], path: string): Iterable<string> {
  for (const ofPair of Map.groupBy(rows, ({ pair }) => pair).values()) {
    const interval = strangeInterval(ofPair.map(({ at }) => at));
    if (interval !== undefined) throw new InputError(path, intervalProblem(interval));
  }
  return writtenCandles(rows);
}

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
