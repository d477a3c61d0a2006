/**
 * Returns `before` if it equals `after` in every part, else `after`. Unchanged parts stay the same
 * objects, so that snapshots compare fast. For plain JSON values.
 */
export function reuseIfEqual<T>(before: T | undefined, after: T): T {
  return before !== undefined && isEqual(before, after) ? before : after;
}

/** Returns `before` if both lists contain the same objects in the same order, else `after`. */
export function reuseListIfEqual<T>(before: T[], after: T[]): T[] {
  return before.length === after.length && before.every((item, index) => item === after[index])
    ? before
    : after;
}

/** Returns whether two plain JSON values are equal in every part. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => isEqual(item, b[index]))
    );
  }
  const left = Object.entries(a);
  const right = new Map<string, unknown>(Object.entries(b));
  return (
    left.length === right.size &&
    left.every(([key, value]) => right.has(key) && isEqual(value, right.get(key)))
  );
}
