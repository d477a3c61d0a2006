/** Upper bounds of the buckets, in milliseconds. */
const BOUNDS_MS = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 60_000];

/** Counts durations by size, many in one call. */
export class DurationHistogram {
  /** Counts per bucket, not cumulative. The last bucket is beyond all bounds. */
  readonly #counts = new Float64Array(BOUNDS_MS.length + 1);
  #sumMs = 0;

  /**
   * Adds `count` durations that lie evenly between `firstMs` and `lastMs`. Costs the same for one
   * and for ten thousand. Negative ones count as 0.
   */
  add(firstMs: number, lastMs = firstMs, count = 1): void {
    const first = Math.max(0, firstMs);
    const last = Math.max(first, lastMs);
    this.#sumMs += (count * (first + last)) / 2;
    let counted = 0;
    let at = 0;
    for (; counted < count && at < BOUNDS_MS.length; at++) {
      const bound = BOUNDS_MS[at] ?? Number.POSITIVE_INFINITY;
      if (bound < first) continue;
      const upTo = bound >= last ? count : Math.round((count * (bound - first)) / (last - first));
      this.#counts[at] = (this.#counts[at] ?? 0) + upTo - counted;
      counted = upTo;
    }
    const beyond = BOUNDS_MS.length;
    this.#counts[beyond] = (this.#counts[beyond] ?? 0) + count - counted;
  }

  /** In seconds. `counts` are cumulative: one for each upper bound, then the total. */
  get seconds(): {
    readonly bounds: readonly number[];
    readonly counts: readonly number[];
    readonly sum: number;
  } {
    let total = 0;
    const counts = [...this.#counts].map((count) => (total += count));
    return { bounds: BOUNDS_MS.map((ms) => ms / 1_000), counts, sum: this.#sumMs / 1_000 };
  }
}
