import type { StreamEvent } from "../../client/index.ts";
import { formatPct } from "../../lib/text/format-pct.ts";
import { outcomeText } from "../../model/text/outcome-text.ts";

export function describeEvent(event: StreamEvent): string {
  switch (event.name) {
    case "flare-started": {
      const { flare, why, cause } = event.data;
      const started = `${cause}, ${formatPct(flare.recent_price_change)}`;
      return why ? `${started}: ${why.text}` : started;
    }
    case "flare-finished":
      return event.data.outcome
        ? outcomeText(event.data.outcome)
        : `${event.data.cause}, ${formatPct(event.data.flare.recent_price_change)}`;
    case "flare-outcome":
      return event.data.outcome ? outcomeText(event.data.outcome) : "unknown";
    case "flare-updated":
    case "token-updated": {
      const { data } = event;
      if (data.op === "order") return "new order";
      return Object.keys(data.set).join(", ").replaceAll("_", " ") || "why it flares";
    }
    case "flare-withdrawn":
      return event.data.cause;
    case "flare-expired":
      return "a day has passed";
    case "token-listed":
      return "first liquidity";
    case "token-unlisted":
      return "15 minutes have passed";
    case "chart-updated":
    case "leaderboard-updated": {
      const { length } = event.data.changes;
      return length === 1 ? "1 change" : `${length} changes`;
    }
    case "candles-closed":
      return event.data.closed_at ?? "";
    case "source-status":
      return [event.data.state, event.data.reason].filter(Boolean).join(": ");
  }
}
