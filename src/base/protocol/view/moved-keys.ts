/**
 * Returns the fewest keys of both lists such that all other common keys keep their relative order.
 * Those others are a longest increasing subsequence of the former positions (M. L. Fredman, 1975).
 * Takes O(n log n).
 */
export function movedKeys(before: readonly string[], after: readonly string[]): readonly string[] {
  const formerPositions = new Map(before.map((key, position) => [key, position]));
  const keys = after.filter((key) => formerPositions.has(key));
  const positions = keys.map((key) => formerPositions.get(key) ?? 0);
  /** For each length, the lowest end (an index into `keys`) of such a subsequence. */
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [index, position] of positions.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((positions[ends[middle] ?? 0] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    previous.push(low > 0 ? (ends[low - 1] ?? -1) : -1);
    ends[low] = index;
  }
  const unmoved = new Set<number>();
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1) unmoved.add(index);
  return keys.filter((_, index) => !unmoved.has(index));
}
