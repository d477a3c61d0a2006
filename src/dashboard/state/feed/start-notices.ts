import type { EventMessage } from "../../../client/index.ts";
import { safeText } from "../../../lib/text/safe-text.ts";
import { newsKey, newsOf } from "./news.ts";

const MAX_NAMED = 3;

/**
 * Returns a function that words the starts in the latest news which it has not worded before: those
 * that the visitor's plan receives, each flare once. It returns an empty text if there are none.
 */
export function createStartNotices(): (newestFirst: readonly EventMessage[], seesPro: boolean) => string {
  let worded: ReadonlySet<string | undefined> = new Set();
  return (newestFirst, seesPro) => {
    const starts = newsOf(newestFirst, seesPro).filter((event) => event.name === "flare-started");
    const symbols = starts
      .filter((event) => !worded.has(newsKey(event)))
      .map(({ data }) => safeText(data.flare.token.symbol));
    worded = new Set(starts.map(newsKey));
    return symbols.length > 0 ? startsText(symbols, seesPro) : "";
  };
}

function startsText(symbols: readonly string[], seesPro: boolean): string {
  const isOne = symbols.length === 1;
  const flares = isOne ? "A flare" : `${symbols.length} flares`;
  // In the plan free, a flare appears late.
  const what = seesPro ? "started" : `${isOne ? "has" : "have"} lasted 5 minutes`;
  const more = symbols.length > MAX_NAMED ? ` and ${symbols.length - MAX_NAMED} more` : "";
  return `${flares} ${what}: ${symbols.slice(0, MAX_NAMED).join(", ")}${more}`;
}
