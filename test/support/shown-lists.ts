import type { Snapshot } from "../../src/model/index.ts";

/**
 * Returns what a client of `*` and `/snapshot` show, after JSON: candles and the flares of other
 * groups must be named.
 */
export function shownLists(snapshot: Snapshot): Partial<Snapshot> {
  const { flares, newest, charts, leaderboards, explanations, outcomes } = snapshot;
  return JSON.parse(JSON.stringify({ flares, newest, charts, leaderboards, explanations, outcomes }));
}
