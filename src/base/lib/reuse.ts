import { jsonEqual } from "./json-equal.ts";

/** Returns `before` if it is equal as JSON, so that later comparisons see the same object. */
export function reuseIfEqual<T>(before: T | undefined, after: T): T {
  return before !== undefined && jsonEqual(before, after) ? before : after;
}

/** Returns `before` if both lists contain the same objects in the same order, else `after`. */
export function reuseListIfSame<T>(before: T[], after: T[]): T[] {
  return before.length === after.length && before.every((item, index) => item === after[index])
    ? before
    : after;
}

/** Returns `before` if both records contain the same objects under the same keys, else `after`. */
export function reuseRecordIfSame<T>(
  before: Record<string, T> | undefined,
  after: Record<string, T>,
): Record<string, T> {
  const keys = Object.keys(after);
  const isSame = before && keys.every((key) => before[key] === after[key]);
  return isSame && Object.keys(before).length === keys.length ? before : after;
}
