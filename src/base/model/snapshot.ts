import { z } from "zod";
import { Candles, NO_CANDLES } from "./candles.ts";
import { Charts, Leaderboards } from "./chart.ts";
import { Explanations } from "./explanation.ts";
import { type AnyFlare, type AnyFlares, ChainFlares, ExchangeFlares, Flares } from "./flare.ts";
import { byForm, byGroup, GROUPS, type GroupName, OTHER_GROUPS, type OtherGroup } from "./groups.ts";
import { Newest } from "./listing.ts";
import { Outcomes } from "./outcome.ts";

export const Snapshot = z
  .object({
    flares: Flares,
    newest: Newest,
    charts: Charts,
    leaderboards: Leaderboards,
    explanations: Explanations,
    outcomes: Outcomes,
    candles: Candles,
    ...flaresOfOthers(byForm(Flares, ExchangeFlares, ChainFlares)),
  })
  .describe(
    "Everything that is served, at one instant. Events are the differences between two snapshots. Keys (keyOf) are unique within each list, `explanations` contains only flares in one of the flare lists, `outcomes` only finished ones, and `candles` also tokens that flared within the last two hours.",
  );
export type Snapshot = z.infer<typeof Snapshot>;

/** Returns the snapshot's part with a group's flares. */
export function flaresKeyOf(group: GroupName) {
  return group === "bsc" ? "flares" : (`flares.${group}` as const);
}

/** Returns the values of the groups other than `bsc`, by the parts with their flares. */
export function flaresOfOthers<T extends Readonly<Record<OtherGroup, unknown>>>(values: T) {
  const entries = OTHER_GROUPS.map((group) => [flaresKeyOf(group), values[group]]);
  return Object.fromEntries(entries) as { [G in OtherGroup as `flares.${G}`]: T[G] };
}

/** Returns the snapshot with each group's flares as changed. */
export function withFlares(snapshot: Snapshot, change: <F extends AnyFlares>(flares: F) => F): Snapshot {
  const entries = GROUPS.map(flaresKeyOf).map((key) => [key, change(snapshot[key])]);
  return { ...snapshot, ...Object.fromEntries(entries) };
}

/** Completes a snapshot of an earlier version, which may lack parts and groups. */
export function completeSnapshot(known: Partial<Snapshot>): Snapshot {
  const { charts, leaderboards } = EMPTY_SNAPSHOT;
  return {
    ...EMPTY_SNAPSHOT,
    ...known,
    charts: { ...charts, ...known.charts },
    leaderboards: { ...leaderboards, ...known.leaderboards },
  };
}

/** Returns the flares of all groups in these lists. */
export function flaresIn(snapshot: Snapshot, ...lists: readonly (keyof AnyFlares)[]): readonly AnyFlare[] {
  return GROUPS.flatMap((group) => {
    const flares: AnyFlares = snapshot[flaresKeyOf(group)];
    return lists.flatMap((list) => flares[list]);
  });
}

const NO_FLARES = { free: [], pro: [], finished_trending: [] };

export const EMPTY_SNAPSHOT: Snapshot = {
  flares: NO_FLARES,
  newest: { bsc: [] },
  charts: byGroup(() => []),
  leaderboards: byGroup(() => []),
  explanations: {},
  outcomes: {},
  candles: NO_CANDLES,
  ...flaresOfOthers(byGroup(() => NO_FLARES)),
};
