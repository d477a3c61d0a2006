/** The candidate that someone who typed `text` most likely meant; `undefined` when none is near (more than a third of the letters differ, two at least allowed). */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(2, Math.floor(text.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const distance = editDistance(text.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance && distance < candidate.length) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein's distance over code units; inputs are cut at 64, beyond which nobody's typing slip lies. */
function editDistance(left: string, right: string): number {
  const a = left.slice(0, 64);
  const b = right.slice(0, 64);
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** ` (did you mean X?)`, or nothing when no candidate is near. */
export function suggestion(text: string, candidates: readonly string[]): string {
  const found = nearest(text, candidates);
  return found === undefined ? "" : ` (did you mean ${found}?)`;
}

/** Says that `given` is not among the `known` names of its kind: the nearest of them, and all of them. */
export function unknownName(kind: string, given: string, known: readonly string[]): string {
  const names = known.length === 0 ? "none is known here" : `known: ${known.join(", ")}`;
  return `unknown ${kind} ${JSON.stringify(given.slice(0, 80))}${suggestion(given, known)}; ${names}`;
}
