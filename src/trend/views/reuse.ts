import { jsonEqual } from "../../lib/json-equal.ts";

/** Returns `before` if equal to `after`, in each part: unchanged JSON compares fast. */
export function reuseIfEqual<T>(before: T | undefined, after: T): T {
  return before !== undefined && jsonEqual(before, after) ? before : after;
}

/** Returns `before` if both lists contain the same objects in the same order, else `after`. */
export function reuseListIfEqual<T>(before: T[], after: T[]): T[] {
  return before.length === after.length && before.every((item, index) => item === after[index])
    ? before
    : after;
}
