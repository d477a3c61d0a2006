import { z } from "zod";
import { Candles, NO_CANDLES } from "./candles.ts";
import { Charts, Leaderboards } from "./chart.ts";
import { Explanations } from "./explanation.ts";
import { type AnyFlare, type AnyFlares, ChainFlares, ExchangeFlares, Flares } from "./flare.ts";
import { Newest } from "./listing.ts";
import { Outcomes } from "./outcome.ts";
import { GROUPS, type Group } from "./primitives.ts";

export const Snapshot = z
  .object({
    flares: Flares,
    newest: Newest,
    charts: Charts,
    leaderboards: Leaderboards,
    explanations: Explanations,
    outcomes: Outcomes,
    candles: Candles,
    "flares.exchange": ExchangeFlares,
    "flares.matic": ChainFlares,
    "flares.avalanche": ChainFlares,
  })
  .describe(
    "Everything that is served, at one instant. Events are the differences between two snapshots. Keys (keyOf) are unique within each list, `explanations` contains only flares in one of the flare lists, `outcomes` only finished ones, and `candles` also tokens that flared within the last two hours.",
  );
export type Snapshot = z.infer<typeof Snapshot>;

/** Returns the snapshot's part with a group's flares. */
export function flaresKeyOf(group: Group) {
  return group === "bsc" ? "flares" : (`flares.${group}` as const);
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
  charts: { bsc: [], exchange: [], matic: [], avalanche: [] },
  leaderboards: { bsc: [], exchange: [], matic: [], avalanche: [] },
  explanations: {},
  outcomes: {},
  candles: NO_CANDLES,
  "flares.exchange": NO_FLARES,
  "flares.matic": NO_FLARES,
  "flares.avalanche": NO_FLARES,
};
