import type { Frequency } from "../../base/model/index.ts";
import type { Counted } from "./tally.ts";

/** A bucket counts as if it had this many more flares, which ended like the coarser one's. */
const PSEUDO_FLARES = 8;
/** Deviations of a normal distribution that leave out 5 % on each side. */
const Z_90 = 1.6449;
const DECIMALS = 3;

/**
 * Estimates a bucket's share from its counts and those of the coarser buckets around it, the
 * coarsest first. Each is shrunk toward the one before: the mean of a beta distribution whose prior
 * is worth {@link PSEUDO_FLARES}. The interval is Wilson's (1927) of 90 %. `null` without counts.
 */
export function estimateShare(path: readonly Counted[]): Frequency | null {
  const [coarsest] = path;
  if (coarsest === undefined || coarsest.of === 0) return null;
  let share = (coarsest.yes + 0.5) / (coarsest.of + 1);
  let weight = coarsest.of;
  for (const { yes, of } of path.slice(1)) {
    share = (yes + PSEUDO_FLARES * share) / (of + PSEUDO_FLARES);
    weight = of + PSEUDO_FLARES;
  }
  const spread = Z_90 ** 2 / weight;
  const middle = share + spread / 2;
  const reach = Math.sqrt(spread * (share * (1 - share) + spread / 4));
  const rounded = (value: number) => Number(Math.min(1, Math.max(0, value)).toFixed(DECIMALS));
  return {
    share: rounded(share),
    low: rounded((middle - reach) / (1 + spread)),
    high: rounded((middle + reach) / (1 + spread)),
  };
}

/** Returns the median with one decimal; `null` without values. */
export function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? null : Number(((low + high) / 2).toFixed(1));
}
