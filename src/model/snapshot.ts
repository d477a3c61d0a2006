import { z } from "zod";
import { Charts } from "./chart.ts";
import { Explanations } from "./explanation.ts";
import { Flares } from "./flare.ts";
import { Leaderboards } from "./leaderboard.ts";
import { Newest } from "./listing.ts";

/**
 * Everything that is served, at one instant. Compared with the one before it yields the events. In each list the
 * keys ({@link keyOf}) are unique, and `explanations` names only flares that stand in one of the flare lists.
 */
export const Snapshot = z.object({
  flares: Flares,
  newest: Newest,
  charts: Charts,
  leaderboards: Leaderboards,
  explanations: Explanations,
});
export type Snapshot = z.infer<typeof Snapshot>;

/** A snapshot of a market of which nothing is known yet. */
export const EMPTY_SNAPSHOT: Snapshot = {
  flares: { free: [], pro: [], finished_trending: [] },
  newest: { bsc: [] },
  charts: { bsc: [], exchange: [], matic: [], avalanche: [] },
  leaderboards: { bsc: [], exchange: [], matic: [], avalanche: [] },
  explanations: {},
};
