import { formatPct } from "../../lib/text/percent.ts";
import type { Outcome } from "../outcome.ts";
import { END_TEXTS, isHardToSell, type Warned } from "./end-texts.ts";

/**
 * Describes a finished flare's outcome briefly: `+12 % peak, activity faded at +4 %`. `why`: its
 * explanation as of the end, if known.
 */
export function outcomeText(outcome: Outcome, why?: Warned | null): string {
  const { peak_change, change_15m, change_60m, end_change } = outcome;
  const parts = [
    peak_change === null ? "" : peak_change < 0.5 ? "no rise" : `${formatPct(peak_change)} peak`,
    change_15m === null ? "" : `${formatPct(change_15m)} after 15 min`,
    change_60m === null ? "" : `${formatPct(change_60m)} after 60 min`,
    outcome.collapsed_at === null ? "" : "collapsed",
    // The peak alone would hide a flare that ended far below its start.
    `${END_TEXTS[outcome.ended_by]}${end_change === null ? "" : ` at ${formatPct(end_change)}`}`,
    // Otherwise a rise at which hardly anyone could sell would look like a gain.
    isHardToSell(why) ? "hardly anyone sold: prices may not be realizable" : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}
