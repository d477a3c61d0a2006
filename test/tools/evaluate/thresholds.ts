/**
 * Returns the lowest threshold in [low, high] at which `rateOf` does not exceed `target`, by
 * `steps` bisections on a logarithmic scale. `rateOf` should not rise with the threshold. If noise
 * makes it rise, the result is one of several such thresholds.
 */
export function matchRate(
  target: number,
  range: { readonly low: number; readonly high: number; readonly steps: number },
  rateOf: (threshold: number) => number,
): number {
  let [low, high] = [range.low, range.high];
  for (let step = 0; step < range.steps; step += 1) {
    const middle = Math.sqrt(low * high);
    if (rateOf(middle) <= target) high = middle;
    else low = middle;
  }
  return high;
}
