import type { EventMessage, View } from "../../client/index.ts";
import type { Token } from "../../model/index.ts";

/**
 * Returns the event's token, whose symbol is untrusted, from the event or the lists; `undefined` if
 * neither has it.
 */
export function eventToken({ name, data }: EventMessage, view: View | undefined): Token | undefined {
  // The page does not follow the exchange's flares, whose tokens have no address.
  if ("flare" in data) return data.flare.token.address === undefined ? undefined : data.flare.token;
  if ("listing" in data) return data.listing.token;
  // The item is in no list anymore.
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
