/** Minimum length of a prefix that identifies a candidate. */
const MIN_PREFIX = 5;

/**
 * Returns the only candidate that starts with `text`, if that has 5 characters or more, else the
 * nearest with few differences, if any. Ignores case.
 */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const typed = text.toLowerCase();
  const begun = candidates.filter((candidate) => candidate.toLowerCase().startsWith(typed));
  if (begun.length === 1 && text.length >= MIN_PREFIX) return begun[0];
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(text.length / 4)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(typed, candidate.toLowerCase());
    if (distance < bestDistance && distance < candidate.length) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Optimal string alignment distance of the first 64 code units. */
function editDistance(left: string, right: string): number {
  const a = left.slice(0, 64);
  const b = right.slice(0, 64);
  let before: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwapped ? (before[j - 2] ?? 0) + 1 : replace;
      next.push(Math.min(replace, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Returns ` (did you mean X?)`, or an empty string if no candidate is near. */
export function suggestion(text: string, candidates: readonly string[]): string {
  const found = nearest(text, candidates);
  return found === undefined ? "" : ` (did you mean ${found}?)`;
}

/** Returns a message that `given` is not one of the `known` names, with the nearest of them. */
export function unknownName(kind: string, given: string, known: readonly string[]): string {
  const names = known.length === 0 ? "none is known here" : `known: ${known.join(", ")}`;
  return `unknown ${kind} ${JSON.stringify(given.slice(0, 80))}${suggestion(given, known)}; ${names}`;
}
