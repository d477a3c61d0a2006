import { formatPct } from "../../../base/lib/text/percent.ts";
import { END_TEXTS } from "../../../base/model/text/end-texts.ts";
import { outcomeText } from "../../../base/model/text/outcome-text.ts";
import { nowReason } from "../../../base/model/text/reason-text.ts";
import type { EventMessage } from "../../sdk/index.ts";
import { valuesText } from "../../text/values-text.ts";
import { formatTime } from "./format.ts";

export function describeEvent(event: EventMessage): string {
  switch (event.name) {
    case "flare-started": {
      const { flare, why, cause } = event.data;
      const change = `${formatPct(flare.recent_price_change)} in 5 min`;
      if (cause === "aged") {
        const aged = `has lasted at least 5 minutes, since ${formatTime(flare.started_trending_at)}; ${change}`;
        return why ? `${aged}. ${nowReason(why.text)}` : aged;
      }
      const started = cause === "detected" ? change : `${cause}, ${change}`;
      return why ? `${started}: ${why.text}` : started;
    }
    case "flare-surged": {
      const { flare, why } = event.data;
      return `surged again, ${formatPct(flare.recent_price_change)} in 5 min: ${why.text}`;
    }
    case "flare-finished":
      return event.data.outcome
        ? outcomeText(event.data.outcome, event.data.why)
        : `${END_TEXTS[event.data.cause]}, ${formatPct(event.data.flare.recent_price_change)}`;
    case "flare-outcome":
      return event.data.outcome ? outcomeText(event.data.outcome) : "unknown";
    case "flare-updated":
    case "token-updated": {
      const { data } = event;
      if (data.op === "order") return "new order";
      const why = "why" in data && data.why ? nowReason(data.why.text) : "";
      return [valuesText(data.set), why].filter(Boolean).join(". ") || "no values";
    }
    case "flare-withdrawn":
      return event.data.cause;
    case "flare-expired":
      return "left the list of finished flares";
    case "token-listed":
      return "first liquidity";
    case "token-unlisted":
      return "left the list of new tokens";
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

interface FeedContents {
  /** Whether it has every event, instead of starts, surges, ends and listings. */
  readonly hasUpdates: boolean;
  /** Number of events, including those that `lines` lacks. */
  readonly count: number;
  /** Lines with an `event` show it as JSON. Lines from the history have none. */
  readonly lines: readonly object[];
}

/** Returns the introduction of the feed. It explains underlined times if a line has one. */
export function feedText({ hasUpdates, count, lines }: FeedContents): string {
  if (hasUpdates) {
    if (count === 0) return "None since this page was opened. The next one appears here.";
    const older = count > lines.length ? `; the newest ${lines.length} are below` : "";
    return `${count} since this page was opened${older}. Flares and listings are those of BSC.`;
  }
  if (count === 0)
    return "No start, surge, end or listing on BSC is known from the last 24 hours. The next event appears here.";
  const scope =
    "Starts and ends of flares on BSC in the last 24 hours, and surges and listings since the server's log began.";
  const hasJson = lines.some((line) => "event" in line);
  return hasJson ? `${scope} Click an underlined time for the event as JSON.` : scope;
}
