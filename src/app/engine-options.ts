import { openOdds } from "../extensions/odds/index.ts";
import type { Feed } from "../gateway/source/index.ts";

/** Returns the options of an engine that reads from the feed. */
export function engineOptions(feed: Pick<Feed, "facts" | "origin">, refreshMs: number) {
  return {
    facts: feed.facts,
    refreshMs,
    openOdds: openOdds(feed.origin),
  };
}
