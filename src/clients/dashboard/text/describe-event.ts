import type { EventMessage } from "../../sdk/index.ts";
import { valuesText } from "../../text/values-text.ts";

/** Describes what an event says beside its name, token, change and reasons. */
export function describeEvent({ name, data }: EventMessage): string {
  switch (name) {
    case "flare-updated":
    case "token-updated":
      if (data.op === "order") return "new order";
      return valuesText(data.set) || ("why" in data && data.why ? "" : "no values");
    case "flare-withdrawn":
      return data.cause;
    case "flare-expired":
      return "left the list of finished flares";
    case "token-listed":
      return "first liquidity";
    case "token-unlisted":
      return "left the list of new tokens";
    case "chart-updated":
    case "leaderboard-updated":
      return data.changes.length === 1 ? "1 change" : `${data.changes.length} changes`;
    case "candles-closed":
      return data.closed_at ?? "";
    case "source-status":
      return [data.state, data.reason].filter(Boolean).join(": ");
    default:
      return "";
  }
}
