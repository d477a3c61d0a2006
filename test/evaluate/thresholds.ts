/**
 * The lowest threshold of [low, high] at which `rateOf` does not exceed `target`, to within a 2 to
 * the `steps`th of the range, on a logarithmic scale. `rateOf` should not rise with the threshold;
 * where noise makes it do so, the result is one such threshold still.
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
