import type { Config } from "./settings.ts";
import { FOLLOW } from "./settings.ts";

/** Returns the base URL of the gateway to follow, or `undefined` for another source. */
export function leaderOf({ source }: Pick<Config, "source">): string | undefined {
  return source.startsWith(FOLLOW) ? source.slice(FOLLOW.length) : undefined;
}
