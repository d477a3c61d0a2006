import { GROUP_FACTS, type GroupName } from "../groups.ts";

/** Where the name is in a flare, a listing, a chart item or a leaderboard entry. */
const PATHS = [
  ["pair"],
  ["token", "symbol"],
  ["flare", "token", "symbol"],
  ["object", "symbol"],
  ["object", "token", "symbol"],
];

/**
 * Returns an item's pair, such as `BTC/USDT`, or else its symbol, as untrusted text; `undefined` if
 * it has neither.
 */
export function nameItem(item: object): string | undefined {
  return PATHS.map((path) => path.reduce<unknown>(fieldOf, item)).find((name) => typeof name === "string");
}

/** Returns an item's chain, or its exchange, as untrusted text, if the feed names one. */
export function venueOf(item: object, group: GroupName): string | undefined {
  if (group !== "exchange") return GROUP_FACTS[group].label;
  const exchange = fieldOf(item, "exchange");
  return typeof exchange === "string" ? exchange : undefined;
}

/** Returns what a sentence calls an item: its name, and its exchange or chain other than BSC. */
export function namesInText(item: object, group: GroupName): readonly string[] {
  const venue = group === "bsc" ? undefined : venueOf(item, group);
  return [nameItem(item) ?? "", ...(venue === undefined ? [] : [venue])];
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
