import type { z } from "zod";
import { firstIssue } from "../../base/lib/text/first-issue.ts";
import { UnexpectedAnswer } from "./service-client.ts";

/**
 * Returns the valid items. Throws {@link UnexpectedAnswer} if `list` is no array, or has items but
 * no valid one.
 */
export function readItems<T>(schema: z.ZodType<T>, list: unknown, what: string): readonly T[] {
  if (!Array.isArray(list)) throw new UnexpectedAnswer(`returned no list of ${what}`);
  const items = list.flatMap((item: unknown) => {
    const parsed = schema.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });
  if (list.length > 0 && items.length === 0)
    throw new UnexpectedAnswer(`returned a list of ${list.length} items without valid ${what}`);
  return items;
}

/** Returns the validated value. Throws {@link UnexpectedAnswer} if it is invalid. */
export function readWhole<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { field } = firstIssue(parsed.error, value);
  throw new UnexpectedAnswer(`returned no valid ${what}${field && ` at ${field}`}`);
}
