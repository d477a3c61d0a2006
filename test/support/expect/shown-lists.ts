import { GROUPS, isAdditional, type Snapshot } from "../../../src/base/model/index.ts";

/**
 * Returns the state that `*` and `/snapshot` show, as parsed from JSON. Candles and flares of other
 * groups are left out: clients request them by name.
 */
export function shownLists(snapshot: Snapshot): Partial<Snapshot> {
  const { flares, newest } = snapshot;
  const [charts, leaderboards] = [defaultGroups(snapshot.charts), defaultGroups(snapshot.leaderboards)];
  const listed = new Set(Object.values(flares).flatMap((list) => list.map(({ id }) => id)));
  const ofListed = <T>(byId: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(byId).filter(([id]) => listed.has(id)));
  const [explanations, outcomes] = [ofListed(snapshot.explanations), ofListed(snapshot.outcomes)];
  return JSON.parse(JSON.stringify({ flares, newest, charts, leaderboards, explanations, outcomes }));
}

/** Returns the lists without those of additional groups. */
export function defaultGroups<L extends object>(lists: L): Partial<L> {
  const isDefault = ([name]: [string, unknown]) => !GROUPS.some((one) => one === name && isAdditional(one));
  return Object.fromEntries(Object.entries(lists).filter(isDefault)) as Partial<L>;
}
