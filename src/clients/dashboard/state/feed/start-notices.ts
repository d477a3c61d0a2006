import { safeText } from "../../../../base/lib/text/safe-text.ts";
import type { EventMessage } from "../../../sdk/index.ts";
import { newsKey, newsOf } from "./news.ts";

const MAX_NAMED = 3;

/**
 * Returns a function that takes the latest news and returns a text for screen readers about the
 * starts of flares that no earlier call reported; empty if there are none. On the free plan, a
 * flare counts when it enters `flares.free`.
 */
export function createStartNotices(): (newestFirst: readonly EventMessage[], seesPro: boolean) => string {
  let announced: ReadonlySet<string | undefined> = new Set();
  return (newestFirst, seesPro) => {
    const starts = newsOf(newestFirst, seesPro).filter((event) => event.name === "flare-started");
    const symbols = starts
      .filter((event) => !announced.has(newsKey(event)))
      .map(({ data }) => safeText(data.flare.token.symbol));
    announced = new Set(starts.map(newsKey));
    return symbols.length > 0 ? startsText(symbols, seesPro) : "";
  };
}

function startsText(symbols: readonly string[], seesPro: boolean): string {
  const isOne = symbols.length === 1;
  const flares = isOne ? "A flare" : `${symbols.length} flares`;
  // On the free plan, a flare appears only after five minutes.
  const what = seesPro ? "started" : `${isOne ? "has" : "have"} lasted at least 5 minutes`;
  const more = symbols.length > MAX_NAMED ? ` and ${symbols.length - MAX_NAMED} more` : "";
  return `${flares} ${what}: ${symbols.slice(0, MAX_NAMED).join(", ")}${more}`;
}
