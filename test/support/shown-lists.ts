import type { Snapshot } from "../../src/model/index.ts";

/**
 * Returns what a client of `*` and `/snapshot` show, after JSON: candles and the flares of other
 * groups must be named.
 */
export function shownLists(snapshot: Snapshot): Partial<Snapshot> {
  const { flares, newest, charts, leaderboards } = snapshot;
  const listed = new Set(Object.values(flares).flatMap((list) => list.map(({ id }) => id)));
  const ofListed = <T>(byId: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(byId).filter(([id]) => listed.has(id)));
  const [explanations, outcomes] = [ofListed(snapshot.explanations), ofListed(snapshot.outcomes)];
  return JSON.parse(JSON.stringify({ flares, newest, charts, leaderboards, explanations, outcomes }));
}
