import { median } from "../report.ts";

/**
 * The median of measured values, and half of their interquartile range as a share of the median.
 */
interface Spread {
  readonly median: number;
  /** In percent; 0 for a single value. */
  readonly spreadPct: number;
  readonly runs: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  const middle = median(values);
  return { median: middle, spreadPct: ((at(0.75) - at(0.25)) / 2 / middle) * 100, runs: values.length };
}
