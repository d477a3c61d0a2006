import { safeText } from "../../../base/lib/text/safe-text.ts";
import { foldAddress } from "../../../base/model/groups.ts";
import type { Token } from "../../../base/model/index.ts";
import type { EventMessage, View } from "../../sdk/index.ts";

/**
 * Returns the token of an event about one flare or listing, from the event or else from the lists.
 * Its symbol is untrusted. Returns `undefined` for other events, and if neither has the token.
 */
export function eventToken({ name, data }: EventMessage, view: View | undefined): Token | undefined {
  // Tokens on exchanges have no address. Their flares are not in the page's stream.
  if ("flare" in data) return data.flare.token.address === undefined ? undefined : data.flare.token;
  if ("listing" in data) return data.listing.token;
  // The item has left the lists.
  if (name === "flare-expired" || name === "token-unlisted") return undefined;
  return "id" in data ? inLists(data.id, view) : undefined;
}

function inLists(id: string, view: View | undefined): Token | undefined {
  const { pro = [], free = [], finished_trending = [] } = view?.flares ?? {};
  const lists = [pro, free, finished_trending, view?.newest?.bsc ?? []];
  for (const list of lists) {
    const item = list.find((one) => one.id === id);
    if (item) return item.token;
  }
  return undefined;
}

/** Returns the addresses, as by foldAddress, of tokens whose symbol looks like another's. */
export function namesakesOf(
  tokens: readonly (Pick<Token, "symbol" | "address"> | undefined)[],
): ReadonlySet<string> {
  const bySymbol = new Map<string, Set<string>>();
  for (const token of tokens) {
    if (!token) continue;
    const symbol = safeText(token.symbol);
    bySymbol.set(symbol, (bySymbol.get(symbol) ?? new Set()).add(foldAddress(token.address)));
  }
  return new Set([...bySymbol.values()].flatMap((addresses) => (addresses.size > 1 ? [...addresses] : [])));
}
