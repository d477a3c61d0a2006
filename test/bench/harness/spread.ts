import { median } from "../report.ts";

/**
 * Measured values of one thing: the middle, and half of what lies between the quartiles, as a share
 * of it.
 */
interface Spread {
  readonly median: number;
  /** In percent; 0 of one value. */
  readonly spreadPct: number;
  readonly runs: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  const middle = median(values);
  return { median: middle, spreadPct: ((at(0.75) - at(0.25)) / 2 / middle) * 100, runs: values.length };
}
