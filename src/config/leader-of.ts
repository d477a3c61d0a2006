import { FOLLOW } from "./schema/kinds.ts";
import type { Config } from "./schema/settings.ts";

/** The base address of the gateway that is followed; `undefined` where the source is another. */
export function leaderOf({ source }: Pick<Config, "source">): string | undefined {
  return source.startsWith(FOLLOW) ? source.slice(FOLLOW.length) : undefined;
}
