/**
 * As few as possible of the keys of both orders, such that all others stand one behind the other as they did before: who has none of these in its part of the list
 * sees nothing move. Keys that are in one of the orders only are left out. Takes n log n steps.
 *
 * The others are a longest increasing subsequence of the former places: M. L. Fredman, "On computing the length of longest increasing subsequences", 1975.
 */
export function movedKeys(before: readonly string[], after: readonly string[]): readonly string[] {
  const formerPlaces = new Map(before.map((key, place) => [key, place]));
  const keys = after.filter((key) => formerPlaces.has(key));
  const places = keys.map((key) => formerPlaces.get(key) ?? 0);
  /** For each length the end, as an index into `keys`, of the subsequence of that length that ends lowest. */
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [at, place] of places.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[ends[middle] ?? 0] ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    previous.push(low > 0 ? (ends[low - 1] ?? -1) : -1);
    ends[low] = at;
  }
  const unmoved = new Set<number>();
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) unmoved.add(at);
  return keys.filter((_, at) => !unmoved.has(at));
}
