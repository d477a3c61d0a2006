import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/**
 * One pair's market on a grid of minutes. A silent minute repeats the close and has no volume.
 * Before the first candle, the close is NaN.
 */
export interface Series {
  readonly pair: string;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
}

/** All pairs of a recording on one grid that starts at `startMs`, a whole minute. */
export interface Market {
  readonly startMs: number;
  readonly minutes: number;
  readonly series: readonly Series[];
}

/** Reads candles as CSV `time_ms,pair,open,high,low,close,volume`, gzipped or not. */
export function loadMarket(path: string): Market {
  const bytes = readFileSync(path);
  const text = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString("utf8");
  const rows = text
    .split("\n")
    .filter((line) => /^\d/.test(line))
    .map((line) => line.split(","));
  const times = rows.map((row) => Number(row[0]));
  const startMs = times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const endMs = times.reduce((a, b) => Math.max(a, b), 0);
  const minutes = (endMs - startMs) / MINUTE_MS + 1;
  const byPair = new Map<string, Series>();
  for (const [index, row] of rows.entries()) {
    const pair = row[1] ?? "";
    const series = byPair.get(pair) ?? emptySeries(pair, minutes);
    byPair.set(pair, series);
    const at = ((times[index] ?? 0) - startMs) / MINUTE_MS;
    series.open[at] = Number(row[2]);
    series.high[at] = Number(row[3]);
    series.low[at] = Number(row[4]);
    series.close[at] = Number(row[5]);
    series.volume[at] = Number(row[6]);
  }
  for (const series of byPair.values()) fillSilence(series);
  return { startMs, minutes, series: [...byPair.values()].sort((a, b) => (a.pair < b.pair ? -1 : 1)) };
}

/** Returns a copy whose numbers may be changed. */
export function copySeries(series: Series): Series {
  const { pair, open, high, low, close, volume } = series;
  return {
    pair,
    open: open.slice(),
    high: high.slice(),
    low: low.slice(),
    close: close.slice(),
    volume: volume.slice(),
  };
}

/** Returns a pair without data: no price, no volume. */
export function emptySeries(pair: string, minutes: number): Series {
  const column = () => new Float64Array(minutes).fill(Number.NaN);
  return {
    pair,
    open: column(),
    high: column(),
    low: column(),
    close: column(),
    volume: new Float64Array(minutes),
  };
}

/** Repeats the last close in silent minutes. */
export function fillSilence(series: Series): void {
  let last = Number.NaN;
  for (let at = 0; at < series.close.length; at += 1) {
    const close = series.close[at] ?? Number.NaN;
    if (Number.isNaN(close)) {
      for (const column of [series.open, series.high, series.low, series.close]) column[at] = last;
    } else last = close;
  }
}
