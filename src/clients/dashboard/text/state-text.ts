import { formatPct } from "../../../base/lib/text/percent.ts";
import { DAY_MS } from "../../../base/lib/time/time.ts";
import type { FlareRecord } from "../../../base/model/index.ts";
import { END_TEXTS, isHardToSell, sayWarning } from "../../../base/model/text/end-texts.ts";
import { formatMinutes } from "./span.ts";

/** Warnings that say what happened, better than that the flare was a possible rug. */
const DEEDS: ReadonlySet<string> = new Set(["liquidity-removed", "liquidity-plunged", "no-seller"]);

/** Formats a moment to the minute: `03:13`, or `2017-11-12 03:13` from a day ago. */
export function minuteText(timestamp: string, nowMs: number): string {
  const isOld = nowMs - Date.parse(timestamp) >= DAY_MS;
  return timestamp.slice(isOld ? 0 : 11, 16).replace("T", " ");
}

/**
 * Says how a flare stands: `Flaring for 12 min.`, or `Liquidity removed 03:13. Was +39 %, now
 * −94 %.` `change`: since its start, in percent.
 */
export function stateText(
  { flare, why, cause, outcome }: FlareRecord,
  change: number | undefined,
  nowMs: number,
): string {
  const { started_trending_at: startedAt, finished_trending_at: endedAt } = flare;
  const deed = why?.warnings.find((warning) => DEEDS.has(warning));
  const grave = deed === undefined ? "" : capitalized(sayWarning(deed));
  if (endedAt === null) {
    const running = `Flaring for ${formatMinutes(nowMs - Date.parse(startedAt))}.`;
    return grave === "" ? running : `${grave}. ${running}`;
  }
  const end = cause === "canary" && grave !== "" ? grave : capitalized(END_TEXTS[cause ?? "upstream"]);
  const peak = outcome?.peak_change ?? null;
  const parts = [
    ...(peak !== null && peak >= 0.5 ? [`was ${formatPct(peak)}`] : []),
    ...(change === undefined ? [] : [`now ${formatPct(change)}`]),
  ].join(", ");
  const unsold = isHardToSell(why) ? " Hardly anyone sold: prices may not be realizable." : "";
  return `${end} ${minuteText(endedAt, nowMs)}.${parts === "" ? "" : ` ${capitalized(parts)}.`}${unsold}`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
