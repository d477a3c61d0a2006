/* Formulas. None allocates memory. */

/** Returns e^(−elapsed/tau), both in the same unit; 1 if `elapsed` is negative. */
export function decay(elapsed: number, tau: number): number {
  return elapsed > 0 ? Math.exp(-elapsed / tau) : 1;
}

/** Clamps `value` to [low, high]. NaN becomes `low`: a bad measurement must not spoil a score. */
export function clip(value: number, low: number, high: number): number {
  return value > low ? Math.min(value, high) : low;
}

/**
 * Returns how many standard deviations an overdispersed count n is above its mean μ: `2(√(n+3/8) −
 * √(μ+3/8))/√φ`, Anscombe's transform (1948), divided by the root of the dispersion φ (variance
 * over mean; at least 1).
 */
export function poissonSurprise(count: number, expected: number, dispersion: number): number {
  return (2 * (Math.sqrt(count + 0.375) - Math.sqrt(expected + 0.375))) / Math.sqrt(Math.max(1, dispersion));
}

/**
 * Returns Wilson's lower bound (1927) of the share of `hits` in `total`, which may be fractional.
 * `z` is the confidence level as a number of standard deviations (1.645: one-sided 95 %). Returns 0
 * without observations.
 */
export function wilsonLowerBound(hits: number, total: number, z = 1.645): number {
  if (!(total > 0)) return 0;
  const share = hits / total;
  const square = (z * z) / total;
  const center = share + square / 2;
  const spread = z * Math.sqrt((share * (1 - share)) / total + square / (4 * total));
  return Math.max(0, (center - spread) / (1 + square));
}

/** Returns the median of the numbers, which it reorders; 0 for none. */
export function medianInPlace(values: number[]): number {
  const { length } = values;
  if (length === 0) return 0;
  const middle = length >> 1;
  const upper = selectInPlace(values, middle);
  if (length % 2 === 1) return upper;
  let lower = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < middle; index++) lower = Math.max(lower, values[index] ?? 0);
  return (lower + upper) / 2;
}

/**
 * Returns the number that belongs at `index` in sorted order, and moves lower ones before it (FIND,
 * Hoare 1961).
 */
function selectInPlace(values: number[], index: number): number {
  let from = 0;
  let to = values.length - 1;
  while (from < to) {
    const pivot = values[(from + to) >> 1] ?? 0;
    let low = from;
    let high = to;
    while (low <= high) {
      while ((values[low] ?? 0) < pivot) low += 1;
      while ((values[high] ?? 0) > pivot) high -= 1;
      if (low > high) break;
      const swapped = values[low] ?? 0;
      values[low++] = values[high] ?? 0;
      values[high--] = swapped;
    }
    if (index <= high) to = high;
    else if (index >= low) from = low;
    else break;
  }
  return values[index] ?? 0;
}

/** Rounds to `digits` decimals, so that published numbers change less often. Never returns `-0`. */
export function roundTo(value: number, digits: number): number {
  const factor = 10 ** digits;
  const rounded = Math.round(value * factor) / factor;
  return rounded === 0 ? 0 : rounded;
}

/** Returns since when a condition has held, given the time before this look; -1 if it does not. */
export function sinceWhen(beforeMs: number, isTrue: boolean, atMs: number): number {
  if (!isTrue) return -1;
  return beforeMs < 0 ? atMs : beforeMs;
}

/**
 * Hashes a name to 53 bits, never 0: two lanes in the manner of FNV-1a, finished as in MurmurHash3.
 */
export function hashName(name: string): number {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x5bd1e995);
  }
  return (finish(high) & 0x1fffff) * 0x1_0000_0000 + finish(low) || 1;
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
