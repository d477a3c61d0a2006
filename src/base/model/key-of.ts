import type { ChartItem, LeaderboardEntry } from "./chart.ts";
import type { AnyFlare } from "./flare.ts";
import { foldAddress, type GroupName } from "./groups.ts";
import type { Listing } from "./listing.ts";

export type ListItem = AnyFlare | Listing | ChartItem | LeaderboardEntry;

/** Returns an item's key: its id or, in a leaderboard, its object's id, address or symbol. */
export function keyOf(item: ListItem): string {
  if ("id" in item) return item.id;
  const { object } = item;
  if ("id" in object) return object.id;
  return "address" in object ? object.address : object.symbol;
}

/** Returns a flare's group. */
export function groupOf(flare: AnyFlare): GroupName {
  return "group" in flare ? flare.group : "bsc";
}

/** Identifies an item's token in its group: by address (see foldAddress), else by symbol. */
export function tokenOf({
  token,
}: {
  readonly token: { readonly symbol: string; readonly address?: string | null | undefined };
}): string {
  return token.address == null ? token.symbol : foldAddress(token.address);
}
