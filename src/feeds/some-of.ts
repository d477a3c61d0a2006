import { z } from "zod";
import { type Kind, list } from "../base/settings/index.ts";

/** One or more of these words, separated by commas, or a list of them. */
export function someOf<const W extends string>(words: readonly W[]): Kind<readonly W[]> {
  return {
    schema: list(z.enum(words)).refine((given) => given.length > 0),
    bound: `one or more of ${words.join(", ")}, separated by commas`,
    names: words,
  };
}

/** Like {@link someOf}, or `none` for the empty list. */
export function someOrNone<const W extends string>(words: readonly W[]): Kind<readonly W[]> {
  const bound = `none, or some of ${words.join(", ")}, separated by commas`;
  return { schema: list(z.enum(words)), bound, names: words };
}
