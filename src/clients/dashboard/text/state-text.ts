import { assertNever } from "../../../base/lib/assert-never.ts";
import { formatCount } from "../../../base/lib/text/figures.ts";
import { formatPct } from "../../../base/lib/text/percent.ts";
import { DAY_MS, MINUTE_MS } from "../../../base/lib/time/time.ts";
import type { Explanation, FlareRecord, Term } from "../../../base/model/index.ts";
import { END_TEXTS, isHardToSell, sayWarning } from "../../../base/model/text/end-texts.ts";
import { lockedText } from "../../../base/model/text/locked-text.ts";
import { formatMinutes } from "../../text/span.ts";
import { formatMoment } from "./format.ts";

/** Warnings that say what happened, better than that the flare was a possible rug. */
const DEEDS: ReadonlySet<string> = new Set(["liquidity-removed", "liquidity-plunged", "no-seller"]);

/** The age up to which a price is the price now. */
const CURRENT_MS = 10 * MINUTE_MS;

/** Formats a moment to the minute: `03:13`, or `2017-11-12 03:13` from a day ago. */
export function minuteText(timestamp: string, nowMs: number): string {
  const isOld = nowMs - Date.parse(timestamp) >= DAY_MS;
  return formatMoment(timestamp).slice(isOld ? 0 : 11);
}

/**
 * Says how a flare stands: `Flaring for 12 min.`, or `Liquidity removed 03:13. Was +39 %, now
 * −94 %.` `change`: since its start, in percent, of the price at the moment `priceAt`.
 */
export function stateText(
  { flare, why, cause, outcome }: FlareRecord,
  change: number | undefined,
  priceAt: string | null,
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
    ...(change === undefined ? [] : [changeText(change, priceAt, endedAt, nowMs)]),
  ].join(", ");
  const unsold = isHardToSell(why) ? " Hardly anyone sold: prices may not be realizable." : "";
  return `${end} ${minuteText(endedAt, nowMs)}.${parts === "" ? "" : ` ${capitalized(parts)}.`}${unsold}`;
}

/** Says which price the change is of: one from before the end, or long ago, is not that of now. */
function changeText(change: number, priceAt: string | null, endedAt: string, nowMs: number): string {
  const text = formatPct(change);
  if (priceAt === null) return `last seen ${text}`;
  const priceMs = Date.parse(priceAt);
  if (priceMs > Date.parse(endedAt) && nowMs - priceMs <= CURRENT_MS) return `now ${text}`;
  const minute = minuteText(priceAt, nowMs);
  return minute === minuteText(endedAt, nowMs) ? `${text} at its end` : `last seen ${minute} at ${text}`;
}

/** Describes how liquidity is locked: `97 % locked until 2027-03-01`, `lock ended 19:58`. */
export function lockText(locked: Explanation["locked"], nowMs: number): string {
  if (!locked?.until || Date.parse(locked.until) > nowMs) return lockedText(locked);
  const ended = locked.held >= 0.01 ? [`lock ended ${minuteText(locked.until, nowMs)}`] : [];
  const burned = locked.burned >= 0.01 ? [lockedText({ ...locked, held: 0 })] : [];
  return [...burned, ...ended].join(", ") || "not locked";
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Formats the measurement of a term and its unit, such as `4.2` and `%`. */
export function formatMeasured({ name, raw }: Pick<Term, "name" | "raw">): readonly [string, unit: string] {
  const [value, unit] = measured(name, raw);
  return [withMinus(value), unit];
}

/** Replaces hyphens with minus signs, as `formatPct` writes them. */
export function withMinus(number: string): string {
  return number.replaceAll("-", "−");
}

function measured(name: Term["name"], raw: number): readonly [string, unit: string] {
  switch (name) {
    case "buyers":
      // Buyers from earlier minutes count in part, so the measurement may not be a whole number.
      return [`≈ ${formatCount(Math.round(raw))}`, "wallets"];
    case "price":
      return [(100 * Math.expm1(raw)).toFixed(1), "%"];
    case "volume":
      return [raw.toPrecision(3), "× usual"];
    case "flow":
      return [raw.toPrecision(3), "usual minutes"];
    case "rush":
      return [formatCount(Math.round(raw)), "buys at once"];
    case "imbalance":
      // A lower bound of the share of buys among trades, minus one half.
      return [`≥ ${(100 * Math.min(1, raw + 0.5)).toFixed(1)}`, "% buys"];
    default:
      return assertNever(name);
  }
}
