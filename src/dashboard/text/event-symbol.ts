import type { StreamEvent, View } from "../../client/index.ts";

/** Returns the untrusted symbol of the event's token, from the event or the lists. */
export function symbolOf(event: StreamEvent, view: View | undefined): string | undefined {
  switch (event.name) {
    case "flare-started":
    case "flare-finished":
      return event.data.flare.token.symbol;
    case "token-listed":
      return event.data.listing.token.symbol;
    case "flare-updated":
    case "token-updated":
      return event.data.op === "set" ? inLists(event.data.id, view) : undefined;
    // Still in a list.
    case "flare-outcome":
    case "flare-withdrawn":
      return inLists(event.data.id, view);
    // In no list any more.
    case "flare-expired":
    case "token-unlisted":
    case "chart-updated":
    case "leaderboard-updated":
    case "candles-closed":
    case "source-status":
      return undefined;
  }
}

function inLists(id: string, view: View | undefined): string | undefined {
  const { pro = [], free = [], finished_trending = [] } = view?.flares ?? {};
  const lists = [pro, free, finished_trending, view?.newest?.bsc ?? []];
  for (const list of lists) {
    const item = list.find((one) => one.id === id);
    if (item) return item.token.symbol;
  }
  return undefined;
}
