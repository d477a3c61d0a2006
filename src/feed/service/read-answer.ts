import type { z } from "zod";
import { UnexpectedAnswer } from "./service-client.ts";

/** The items of a list that are of this form, in order. Throws {@link UnexpectedAnswer} when it is no list, or has items and none of this form. */
export function readItems<T>(schema: z.ZodType<T>, list: unknown, what: string): readonly T[] {
  if (!Array.isArray(list)) throw new UnexpectedAnswer(`answered no list of ${what}`);
  const items = list.flatMap((item: unknown) => {
    const parsed = schema.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });
  if (list.length > 0 && items.length === 0)
    throw new UnexpectedAnswer(`answered a list of ${list.length} in which nothing is like ${what}`);
  return items;
}

/** The value in this form. Throws {@link UnexpectedAnswer} otherwise. */
export function readWhole<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue && issue.path.length > 0 ? ` at ${issue.path.map(String).join(".")}` : "";
  throw new UnexpectedAnswer(`answered no ${what}${field}`);
}
