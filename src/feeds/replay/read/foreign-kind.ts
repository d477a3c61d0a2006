import { ownCommand } from "../../../base/lib/own-command.ts";
import { HOUR_MS, MINUTE_MS } from "../../../base/lib/time/time.ts";

/** How to convert a format that is no text, which freqtrade's users have. */
const exportFrom = (format: string) =>
  `export it as CSV or JSON first; with freqtrade: freqtrade convert-data --format-from ${format} --format-to json`;

/** First bytes of files that are no text, and what to do with them. */
const CONTAINERS: readonly (readonly [name: string, bytes: readonly number[], cure: string])[] = [
  ["a ZIP archive", [0x50, 0x4b, 0x03, 0x04], "unpack it first: unzip FILE"],
  ["a Parquet file", [0x50, 0x41, 0x52, 0x31], exportFrom("parquet")],
  ["a Feather file", [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31], exportFrom("feather")],
  ["an HDF5 file", [0x89, 0x48, 0x44, 0x46], exportFrom("hdf5")],
  ["a 7z archive", [0x37, 0x7a, 0xbc, 0xaf], "unpack it first: 7z x FILE"],
  ["a database of SQLite", [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66], "export a table as CSV first"],
  ["compressed with zstd", [0x28, 0xb5, 0x2f, 0xfd], "unpack it first: zstd -d FILE"],
  ["compressed with xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a], "unpack it first: xz -d FILE"],
  ["compressed with bzip2", [0x42, 0x5a, 0x68], "unpack it first: bzip2 -d FILE"],
  ["in UTF-16", [0xff, 0xfe], "convert it first: iconv -f UTF-16 -t UTF-8 FILE"],
  ["in UTF-16", [0xfe, 0xff], "convert it first: iconv -f UTF-16 -t UTF-8 FILE"],
];

/** Returns why a file with these first bytes is no text, with the cure; `undefined` for text. */
export function containerProblem(head: Uint8Array, path: string): string | undefined {
  const found = CONTAINERS.find(([, bytes]) => bytes.every((byte, at) => head[at] === byte));
  if (found && isWorkbook(head)) return "the file is an Excel workbook; save it as CSV first";
  if (found) return `the file is ${found[0]}; ${found[2].replace("FILE", shellWord(path))}`;
  const isBinary = head[0] !== 0x1f && head.includes(0);
  return isBinary ? "the file is binary; expected text, such as CSV or JSON" : undefined;
}

/** A workbook is a ZIP archive whose first files have these names. */
function isWorkbook(head: Uint8Array): boolean {
  return /\[Content_Types\]\.xml|xl\//.test(Buffer.from(head.subarray(0, 4_096)).toString("latin1"));
}

/** Quotes a path for a shell if it needs that. */
function shellWord(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/**
 * Converts seconds, milliseconds or microseconds since 1970, an ISO 8601 time, or one such as
 * `31.01.2024 08:00`, to ms.
 */
export function readTime(given: string): number | undefined {
  const text = given.replace(/^(\d\d)\.(\d\d)\.(\d{4})(?=$|[T ])/, "$3-$2-$1");
  if (/^\d{9,10}(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000);
  if (/^\d{12,13}$/.test(text)) return Number(text);
  if (/^\d{15,16}$/.test(text)) return Math.floor(Number(text) / 1_000);
  const [, date, clock = "00:00:00", zone = "Z"] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s*(Z|UTC|[+-]\d\d:?\d\d)?$/.exec(text) ?? [];
  if (date === undefined) return undefined;
  const ms = Date.parse(`${date}T${clock}${zone === "UTC" ? "Z" : zone}`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Candles and trades have at least as many columns. */
const MIN_COLUMNS = 5;
/** The fewest steps between candles that show their interval. */
const MIN_STEPS = 12;

/**
 * Returns the interval of candles in ms, if it is longer than a minute: all steps between
 * consecutive times are multiples of it. `undefined` for minutes, and if there are too few.
 */
export function longInterval(times: readonly number[]): number | undefined {
  const steps = times
    .slice(1)
    .map((at, index) => Math.abs(at - (times[index] ?? at)))
    .filter((step) => step > 0);
  if (steps.length < MIN_STEPS) return undefined;
  const interval = steps.reduce(greatestDivisor);
  return interval > MINUTE_MS ? interval : undefined;
}

/** A run of as many equal long steps is no gap of a quiet market. */
const MIN_RUN = 24;

/**
 * Returns an interval in ms that candles of one minute, in the order of their times, cannot have:
 * that of all of them, that of a long run of them, or one of less than a minute.
 */
export function strangeInterval(times: readonly number[]): number | undefined {
  const all = longInterval(times);
  if (all !== undefined) return all;
  let run = 0;
  let before = 0;
  for (const [index, at] of times.entries()) {
    const step = index === 0 ? 0 : at - (times[index - 1] ?? at);
    if (step > 0 && step < MINUTE_MS) return step;
    run = step === before ? run + 1 : 1;
    before = step;
    if (run >= MIN_RUN && step >= 5 * MINUTE_MS) return step;
  }
  return undefined;
}

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other);
}

/** Says that candles are not of one minute. */
export function intervalProblem(ms: number): string {
  const text =
    ms < MINUTE_MS ? `${ms / 1_000} s` : ms % HOUR_MS === 0 ? `${ms / HOUR_MS} h` : `${ms / MINUTE_MS} min`;
  return `the candles are of ${text}, expected one-minute candles; a flare lasts minutes, so download those of 1 min`;
}

/** Returns what to do with a readable file of another form. */
export function importCure(path: string): string {
  return `convert it first: ${ownCommand(`import ${shellWord(path)} --out recording`)}`;
}

/** Returns what is wrong with the first lines of a candle file, with the cure. */
export function csvProblem(lines: readonly string[], path: string): string | undefined {
  const data = lines.filter((line) => /^"?\d/.test(line));
  const rows = data.map((line) => line.replaceAll('"', "").split(","));
  // Without a pair, a price comes second.
  const byPair = Map.groupBy(rows, ([, second = ""]) => (Number.isNaN(Number(second)) ? second : ""));
  for (const ofPair of byPair.values()) {
    const interval = longInterval(ofPair.flatMap(([time = ""]) => readTime(time) ?? []));
    if (interval !== undefined) return intervalProblem(interval);
  }
  const cure = importCure(path);
  if (data[0]?.startsWith('"')) return `the values are in quotes; ${cure}`;
  const [time = "", , , , , flag = ""] = rows[0] ?? [];
  const count = rows[0]?.length ?? 0;
  if (count >= MIN_COLUMNS && count !== 7) return `the lines have ${count} columns, expected 7; ${cure}`;
  if (/^(true|false)$/i.test(flag)) return `the lines are trades, expected candles; ${cure}`;
  if (/^\d{9,10}$/.test(time)) return `the times are in seconds, expected milliseconds; ${cure}`;
  if (/^\d{15,16}$/.test(time)) return `the times are in microseconds, expected milliseconds; ${cure}`;
  for (const ofPair of byPair.values()) {
    const times = ofPair.map(([at]) => Number(at));
    const falls = times.slice(1).filter((at, index) => at < (times[index] ?? at)).length;
    if (falls > 1 && falls === times.length - 1) return `the newest line comes first; ${cure}`;
  }
  return undefined;
}

/** The fewest samples out of order, and their share, that are no single wrong times. */
const MIN_DISORDER = 3;
const DISORDER_SHARE = 0.1;

/**
 * Returns what is wrong if candles are not in the order of time, as in a file that lists one pair
 * after another. `samples` are some consecutive lines from each of several places, in file order.
 */
export function orderProblem(samples: readonly (readonly string[])[], path: string): string | undefined {
  const usual = samples.flatMap((lines) => {
    const times = lines.flatMap((line) => (/^\d{13},/.test(line) ? Number(line.slice(0, 13)) : []));
    return times.toSorted((one, other) => one - other)[times.length >> 1] ?? [];
  });
  const disorder = usual.length - longestRising(usual);
  if (disorder < Math.max(MIN_DISORDER, usual.length * DISORDER_SHARE)) return undefined;
  return `the lines are not in the order of time, as if one pair followed another; ${importCure(path)}`;
}

/** Returns the length of the longest subsequence that never falls. */
function longestRising(values: readonly number[]): number {
  const lengths: number[] = [];
  for (const [index, value] of values.entries()) {
    let longest = 0;
    for (let at = 0; at < index; at++)
      if ((values[at] ?? 0) <= value) longest = Math.max(longest, lengths[at] ?? 0);
    lengths.push(longest + 1);
  }
  return Math.max(0, ...lengths);
}

/** Returns what a file that begins like this is, if it is neither candles nor market events. */
export function textProblem(firstLine: string, path: string): string | undefined {
  if (/^<(!doctype|html|\?xml)/i.test(firstLine)) return "the file is a web page; download the data again";
  if (firstLine.startsWith("[")) return `the file is a JSON list; ${importCure(path)}`;
  // A market event begins with its kind, or has it in its line.
  if (firstLine.startsWith("{") && !firstLine.includes('"kind"'))
    return `the file is a JSON object, expected a list of candles or trades; take the list out first, for example: jq .result ${shellWord(path)} > list.json`;
  return undefined;
}
