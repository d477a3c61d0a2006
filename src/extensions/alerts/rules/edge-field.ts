import type { ListItem } from "../../../base/model/index.ts";
import type { ListChannel, View } from "../../../base/protocol/index.ts";

/** Reads a field of an item; `undefined` if absent. */
type Read = (item: Readonly<Record<string, unknown>>, why: { readonly score: number } | undefined) => unknown;

/** The numeric fields that a rule can watch, by a channel's first part and by name in the API. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, Read>>>> = {
  flares: {
    score: (_item, why) => why?.score,
    price: (item) => Object(item.token).price,
    liquidity: (item) => item.liquidity,
    recent_price_change: (item) => item.recent_price_change,
    latest_buy_count: (item) => item.latest_buy_count,
    latest_sell_count: (item) => item.latest_sell_count,
  },
  newest: {
    price: (item) => Object(item.token).price,
    liquidity: (item) => item.liquidity,
  },
  charts: {
    price: (item) => item.most_recent_price ?? Object(item.token).price,
    price_change_from_average: (item) => item.price_change_from_average,
    streak: (item) => item.streak,
  },
};

export function edgeFieldsOf(channel: string): readonly string[] {
  return Object.keys(FIELDS[channel.split(".")[0] ?? ""] ?? {});
}

/** Returns the field's value; `undefined` if it is absent or not a finite number. */
export function readEdgeField(
  field: string,
  channel: ListChannel,
  item: ListItem,
  view: View,
): number | undefined {
  const read = FIELDS[channel.split(".")[0] ?? ""]?.[field];
  const value = read?.({ ...item }, "id" in item ? view.explanations[item.id] : undefined);
  if (value === undefined || value === null || value === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}
