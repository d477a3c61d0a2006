import type { z } from "zod";
import { firstIssue } from "../../base/lib/text/first-issue.ts";
import { UnexpectedAnswer } from "./service-client.ts";
import { reasonOf, Unread } from "./unread.ts";

/**
 * Returns the valid items, and counts the others. Throws {@link UnexpectedAnswer} if `list` is no
 * array, or has items but no valid one.
 *
 * @param minShare Share of the items that must be valid; otherwise it throws, too. Default: 0.
 */
export function readItems<T>(
  schema: z.ZodType<T>,
  list: unknown,
  what: string,
  unread = new Unread(),
  minShare = 0,
): readonly T[] {
  if (!Array.isArray(list)) throw new UnexpectedAnswer(`returned no list of ${what}`);
  const items: T[] = [];
  let reason = "";
  for (const item of list) {
    const parsed = schema.safeParse(item);
    if (parsed.success) items.push(parsed.data);
    else {
      reason = reasonOf(parsed.error, item);
      unread.count(what, reason);
    }
  }
  unread.list(what, items.length, list.length - items.length, reason);
  if (list.length > 0 && items.length === 0)
    throw new UnexpectedAnswer(`returned a list of ${list.length} items without valid ${what}: ${reason}`);
  if (items.length < list.length * minShare)
    throw new UnexpectedAnswer(`returned ${list.length} ${what}, most of which cannot be read: ${reason}`);
  return items;
}

/**
 * Returns the validated value. Throws {@link UnexpectedAnswer} if it is invalid, and counts that.
 */
export function readWhole<T>(schema: z.ZodType<T>, value: unknown, what: string, unread = new Unread()): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { field } = firstIssue(parsed.error, value);
  unread.count(what, reasonOf(parsed.error, value));
  throw new UnexpectedAnswer(`returned no valid ${what}${field && ` at ${field}`}`);
}
