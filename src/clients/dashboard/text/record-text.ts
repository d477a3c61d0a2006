import { formatCount, formatUsd } from "../../../base/lib/text/figures.ts";
import { formatChange } from "../../../base/lib/text/percent.ts";
import type { RecordFigures, RecordRange } from "../../../base/model/index.ts";
import { formatSpan } from "./span.ts";

/** With fewer flares, or fewer moments of the control, the result may be chance. */
const FEW = 30;

/**
 * Compares flares with their control, by the median change in the `minutes` after the start. Empty
 * if the flares' median is unknown.
 */
export function verdictText({ after }: RecordFigures, minutes: number): string {
  const found = after.find((one) => one.minutes === minutes);
  if (found?.median == null) return "";
  const { median, control, n, unknown } = found;
  const [which, they] =
    unknown === 0 ? ["flares", "the flares"] : ["flares that still traded", "these flares"];
  const start = `${minutes} minutes after their start, the median change of the ${which} was ${formatChange(median)}`;
  if (control.median === null) return `${start}. There is no control yet.`;
  const order = median === control.median ? "the same" : median > control.median ? "better" : "worse";
  const other = `that of the control ${formatChange(control.median)}`;
  return `${start}, and ${other}: ${they} did ${order}.${fewText(n, control.n)}`;
}

/**
 * Counts the flares that have no price `minutes` after the start and at the last moment. Empty if
 * every price is known.
 */
export function leftOutText(
  { flares, ended_by_canary: rugs, after }: RecordFigures,
  minutes: number,
): string {
  const counts = [minutes, after.at(-1)?.minutes].flatMap((at) => {
    const unknown = after.find((one) => one.minutes === at)?.unknown ?? 0;
    return unknown === 0 ? [] : `${formatCount(unknown)} of ${formatCount(flares)} after ${at} minutes`;
  });
  if (counts.length === 0) return "";
  const kind = rugs === 0 ? "" : ", perhaps rugs,";
  const end = rugs === 0 ? "" : ` In all, ${formatCount(rugs)} of ${formatCount(flares)} were possible rugs.`;
  return `Flares without trades at that time${kind} are left out: ${counts.join(", ")}.${end}`;
}

/** Returns how many flares a row leaves out, for display next to it. Empty if none. */
export function rowLeftOutText(unknown: number, { flares, ended_by_canary }: RecordFigures): string {
  if (unknown === 0) return "";
  const kind = ended_by_canary === 0 ? "" : ", perhaps rugs";
  return `${formatCount(unknown)} of ${formatCount(flares)} left out: no trades${kind}`;
}

function fewText(flares: number, moments: number): string {
  const few = [
    ...(flares < FEW ? [flares === 1 ? "one flare" : `${flares} flares`] : []),
    ...(moments < FEW
      ? [moments === 1 ? "one moment of the control" : `${moments} moments of the control`]
      : []),
  ];
  return few.length === 0 ? "" : ` With only ${few.join(" and ")}, this may be chance.`;
}

/** Describes how long before a collapse a warning came. Empty if no flare collapsed. */
export function warningText({ warned, warning_s: { q1, median, q3 } }: RecordFigures): string {
  if (median === null) return "";
  if (median === 0) return `${warned === 0 ? "all" : "most"} came without a warning`;
  const spread = q1 === null || q3 === null ? "" : `, half of them ${secondsText(q1)} to ${secondsText(q3)}`;
  return `median ${secondsText(median)} before${spread}`;
}

function secondsText(seconds: number): string {
  return formatSpan(1_000 * seconds);
}

/** Describes the bounds of a row: `below $10K`, `$10K to $50K`, `from 3.5`, or `all`. */
export function rangeText({ from, to }: RecordRange, unit: "score" | "usd"): string {
  const text = (value: number) => (unit === "usd" ? formatUsd(String(value)) : String(value));
  if (from === null) return to === null ? "all" : `below ${text(to)}`;
  return to === null ? `from ${text(from)}` : `${text(from)} to ${text(to)}`;
}

/** Formats a moment in UTC without its seconds: `2017-11-12 03:12`. */
export function momentText(timestamp: string): string {
  return timestamp.slice(0, 16).replace("T", " ");
}
