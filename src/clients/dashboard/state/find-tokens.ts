import { BASE58, GROUPS, type GroupName } from "../../../base/model/groups.ts";
import { tokenOf } from "../../../base/model/key-of.ts";
import { shortAddress } from "../../../base/model/token-key.ts";
import type { View } from "../../sdk/index.ts";
import type { FlareLists } from "./group/flare-lists.ts";

const MAX_FOUND = 8;
/** A whole address, whose page exists even if no list has the token. */
const ADDRESS = /^0x[0-9a-f]{40}$/i;

interface Found {
  readonly group: GroupName;
  readonly key: string;
  readonly symbol: string;
  readonly name: string;
}

/**
 * Returns the tokens of all present lists whose symbol, name or address has the text, ignoring
 * case; first those whose symbol begins with it. If there are none, and the text is a whole
 * address, returns that.
 */
export function findTokens(
  view: View,
  groups: readonly { readonly group: GroupName; readonly lists: FlareLists | Error | undefined }[],
  text: string,
): readonly Found[] {
  const wanted = text.toLowerCase();
  const found = new Map<string, Found>();
  const add = (
    group: GroupName,
    item: Parameters<typeof tokenOf>[0] & { readonly token: { readonly symbol: string } },
  ) => {
    const key = tokenOf(item);
    const { token } = item;
    const name = "name" in token ? String(token.name) : "";
    const matches = [token.symbol, name, key].some((one) => one.toLowerCase().includes(wanted));
    if (matches && !found.has(`${group} ${key}`))
      found.set(`${group} ${key}`, { group, key, symbol: token.symbol, name });
  };
  const addFlares = (group: GroupName, { flares = {} }: Pick<FlareLists, "flares">) => {
    const { pro = [], free = [], finished_trending = [] } = flares;
    for (const flare of [...pro, ...free, ...finished_trending]) add(group, flare);
  };
  for (const { group, lists } of groups) if (lists && !(lists instanceof Error)) addFlares(group, lists);
  for (const listing of view.newest?.bsc ?? []) add("bsc", listing);
  for (const group of GROUPS) {
    for (const item of view.charts?.[group] ?? []) add(group, "flare" in item ? item.flare : item);
    for (const entry of view.leaderboards?.[group] ?? [])
      add(group, entry.type === "flare" ? entry.object : { token: entry.object });
  }
  const address = { symbol: shortAddress(text), name: "this address" };
  if (found.size === 0 && ADDRESS.test(text)) return [{ group: "bsc", key: wanted, ...address }];
  if (found.size === 0 && BASE58.test(text)) return [{ group: "solana", key: text, ...address }];
  const begins = ({ symbol }: Found) => (symbol.toLowerCase().startsWith(wanted) ? 0 : 1);
  return [...found.values()].toSorted((a, b) => begins(a) - begins(b)).slice(0, MAX_FOUND);
}
