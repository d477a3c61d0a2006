import type { Snapshot } from "../../../src/base/model/index.ts";

/**
 * Returns the state that `*` and `/snapshot` show, as parsed from JSON. Candles and flares of other
 * groups are left out: clients request them by name.
 */
export function shownLists(snapshot: Snapshot): Partial<Snapshot> {
  const { flares, newest, charts, leaderboards } = snapshot;
  const listed = new Set(Object.values(flares).flatMap((list) => list.map(({ id }) => id)));
  const ofListed = <T>(byId: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(byId).filter(([id]) => listed.has(id)));
  const [explanations, outcomes] = [ofListed(snapshot.explanations), ofListed(snapshot.outcomes)];
  return JSON.parse(JSON.stringify({ flares, newest, charts, leaderboards, explanations, outcomes }));
}
