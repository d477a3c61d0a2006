import type { StreamEvent } from "../client/index.ts";
import { formatPct } from "../lib/format-pct.ts";

/** What an event says in a line: of whom, in a stranger's words, and what, in ours. */
export interface Description {
  readonly about: string | undefined;
  readonly words: string;
}

/** Says an event in words. */
export function describeEvent(event: StreamEvent): Description {
  switch (event.name) {
    case "flare-started": {
      const { flare, why, cause } = event.data;
      const score = why ? `, score ${why.score.toFixed(2)} of ${why.threshold.toFixed(2)}` : "";
      return {
        about: flare.token.symbol,
        words: `${cause}, ${formatPct(flare.recent_price_change)}${score}`,
      };
    }
    case "flare-finished": {
      const { flare, cause } = event.data;
      return { about: flare.token.symbol, words: `${cause}, ${formatPct(flare.recent_price_change)}` };
    }
    case "flare-updated":
    case "token-updated": {
      const { data } = event;
      const what = data.op === "order" ? "another order" : Object.keys(data.set).join(", ") || "its reasons";
      return { about: undefined, words: what };
    }
    case "flare-withdrawn":
      return { about: undefined, words: event.data.cause };
    case "flare-expired":
      return { about: undefined, words: "a day has passed" };
    case "token-listed":
      return { about: event.data.listing.token.symbol, words: "first liquidity" };
    case "token-unlisted":
      return { about: undefined, words: "15 minutes are over" };
    case "chart-updated":
    case "leaderboard-updated":
      return { about: undefined, words: `${event.data.changes.length} changes` };
    case "source-status":
      return { about: undefined, words: [event.data.state, event.data.reason].filter(Boolean).join(": ") };
  }
}
