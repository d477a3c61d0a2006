import { HOUR_MS, MINUTE_MS } from "../../../base/lib/time/time.ts";

/** First bytes of files that are no text, and what to do with them. */
const CONTAINERS: readonly (readonly [name: string, bytes: readonly number[], cure: string])[] = [
  ["a ZIP archive", [0x50, 0x4b, 0x03, 0x04], "unpack it first: unzip FILE"],
  ["a Parquet file", [0x50, 0x41, 0x52, 0x31], "export it as CSV first"],
  ["a Feather file", [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31], "export it as CSV or JSON first"],
  ["compressed with zstd", [0x28, 0xb5, 0x2f, 0xfd], "unpack it first: zstd -d FILE"],
  ["compressed with xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a], "unpack it first: xz -d FILE"],
  ["compressed with bzip2", [0x42, 0x5a, 0x68], "unpack it first: bzip2 -d FILE"],
  ["in UTF-16", [0xff, 0xfe], "convert it first: iconv -f UTF-16 -t UTF-8 FILE"],
  ["in UTF-16", [0xfe, 0xff], "convert it first: iconv -f UTF-16 -t UTF-8 FILE"],
];

/** Returns why a file with these first bytes is no text, with the cure; `undefined` for text. */
export function containerProblem(head: Uint8Array): string | undefined {
  const found = CONTAINERS.find(([, bytes]) => bytes.every((byte, at) => head[at] === byte));
  return found && `the file is ${found[0]}; ${found[2]}`;
}

/** Converts seconds, milliseconds or microseconds since 1970, or an ISO 8601 time, to ms. */
export function readTime(text: string): number | undefined {
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

/** What to do with a readable file of another form. */
export const IMPORT = "convert it first: flarewire import FILE --out candles.csv";

/** Returns what is wrong with the first lines of a candle file, with the cure. */
export function csvProblem(lines: readonly string[]): string | undefined {
  const data = lines.filter((line) => /^"?\d/.test(line));
  const [first = ""] = data;
  if (first.startsWith('"')) return `the values are in quotes; ${IMPORT}`;
  const rows = data.map((line) => line.split(","));
  const [time = "", , , , , flag = ""] = rows[0] ?? [];
  const count = rows[0]?.length ?? 0;
  if (count >= MIN_COLUMNS && count !== 7) return `the lines have ${count} columns, expected 7; ${IMPORT}`;
  if (/^(true|false)$/i.test(flag)) return `the lines are trades, expected candles; ${IMPORT}`;
  if (/^\d{9,10}$/.test(time)) return `the times are in seconds, expected milliseconds; ${IMPORT}`;
  if (/^\d{15,16}$/.test(time)) return `the times are in microseconds, expected milliseconds; ${IMPORT}`;
  const byPair = [...Map.groupBy(rows, ([, pair]) => pair).values()].map((of) =>
    of.map(([at]) => Number(at)),
  );
  for (const times of byPair) {
    const interval = longInterval(times);
    if (interval !== undefined) return intervalProblem(interval);
    const falls = times.slice(1).filter((at, index) => at < (times[index] ?? at)).length;
    if (falls > 1 && falls === times.length - 1) return `the newest line comes first; ${IMPORT}`;
  }
  return undefined;
}

/** Returns what a file that begins like this is, if it is JSON but no market events. */
export function jsonProblem(firstLine: string): string | undefined {
  return firstLine.startsWith("[") ? `the file is a JSON list; ${IMPORT}` : undefined;
}
