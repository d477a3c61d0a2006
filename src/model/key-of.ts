import type { ChartItem, LeaderboardEntry } from "./chart.ts";
import type { Flare } from "./flare.ts";
import type { Listing } from "./listing.ts";

export type ListItem = Flare | Listing | ChartItem | LeaderboardEntry;

/** Returns an item's key: `id`, of a leaderboard its object's, address, else symbol. */
export function keyOf(item: ListItem): string {
  if ("id" in item) return item.id;
  const { object } = item;
  if ("id" in object) return object.id;
  return "address" in object ? object.address : object.symbol;
}
