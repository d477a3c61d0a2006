import { counted, formatCount, formatUsd } from "../../../base/lib/text/figures.ts";
import { formatChange, formatShare } from "../../../base/lib/text/percent.ts";
import type { RecordFigures, RecordRange, RecordTrades } from "../../../base/model/index.ts";
import { formatSpan } from "../../text/span.ts";

/** With fewer flares, or fewer moments to compare them with, the result may be chance. */
const FEW = 30;

/** A figure with its name and what it counts. */
export type Fact = readonly [name: string, value: string, note: string];

/** How much of a whole, as `8 of 77`. */
function partOf(part: number, whole: number): string {
  return `${formatCount(part)} of ${formatCount(whole)}`;
}

/** What it brought to buy each flare at its start and to sell it at its finish. */
export function tradeFacts({ n, median, mean, won, worthless, control }: RecordTrades): readonly Fact[] {
  return [
    ["Median", formatChange(median), `n ${formatCount(n)}. Other times: ${formatChange(control.median)}`],
    ["Average", formatChange(mean), `Other times: ${formatChange(control.mean)}`],
    [
      "Ended with a gain",
      formatShare(won),
      `Other times: ${formatShare(control.won)}, n ${formatCount(control.n)}`,
    ],
    ["Could not be sold", partOf(worthless, n), "Their liquidity was removed: counted as −100 %"],
  ];
}

/** Says whether the trades did better than purchases at other times, if both are enough. */
export function verdictText({ n, mean, median, control }: RecordTrades): string {
  const few = [
    ...(n < FEW ? [counted(n, "flare")] : []),
    ...(control.n < FEW ? [`${counted(control.n, "purchase")} at other times`] : []),
  ];
  if (mean === null || median === null || control.mean === null || control.median === null || few.length > 0)
    return `Too few to judge: ${few.join(", and ")}. This may be chance.`;
  const [byMean, byMedian] = [mean > control.mean, median > control.median];
  if (byMean !== byMedian) return `The flares did better only by the ${byMean ? "average" : "median"}.`;
  return `The flares did ${byMean ? "better" : "worse"} than the same tokens at other times.`;
}

/** How often flares rose and how often they were dangerous, each of the same flares. */
export function flareFacts(figures: RecordFigures, trades: RecordTrades | undefined): readonly Fact[] {
  const { flares, ended_by_canary, collapsed, warned, after } = figures;
  const rise = after.find(({ minutes }) => minutes === 15);
  const share = (part: number) => formatShare(flares === 0 ? null : part / flares);
  const warning = warningText(figures);
  return [
    [
      "Higher after 15 minutes",
      formatShare(rise?.rose ?? null),
      `Of the ${partOf(rise?.n ?? 0, flares)} that still traded. Other times: ${formatShare(rise?.control.rose ?? null)}`,
    ],
    [
      "Ended as possible rugs",
      partOf(ended_by_canary, flares),
      `${share(ended_by_canary)}: a warning ended the flare`,
    ],
    ...(trades
      ? [
          [
            "Liquidity removed",
            partOf(trades.rugged_60m, flares),
            `${share(trades.rugged_60m)}: within an hour of the start. Then nobody can sell`,
          ] as const,
        ]
      : []),
    [
      "Price collapsed",
      partOf(collapsed, flares),
      `${share(collapsed)} lost half of their peak.${collapsed === 0 ? "" : ` A warning came before in ${partOf(warned, collapsed)}${warning}`}`,
    ],
  ];
}

/** Describes how long before a collapse a warning came. Empty if most came without one. */
function warningText({ warning_s: { q1, median, q3 } }: RecordFigures): string {
  if (median === null || median === 0) return "";
  const spread = q1 === null || q3 === null ? "" : ` (half: ${secondsText(q1)} to ${secondsText(q3)})`;
  return `, by ${secondsText(median)} at the median${spread}`;
}

function secondsText(seconds: number): string {
  return formatSpan(1_000 * seconds);
}

/** Returns how many flares a row leaves out, for display next to it. Empty if none. */
export function leftOutText(unknown: number, flares: number): string {
  return unknown === 0 ? "" : `${partOf(unknown, flares)} left out: no trade then, perhaps nobody could sell`;
}

/** Describes the bounds of a row: `below $10K`, `$10K to $50K`, `from 3.5`, or `all`. */
export function rangeText({ from, to }: RecordRange, unit: "score" | "usd"): string {
  const text = (value: number) => (unit === "usd" ? formatUsd(String(value)) : String(value));
  if (from === null) return to === null ? "all" : `below ${text(to)}`;
  return to === null ? `from ${text(from)}` : `${text(from)} to ${text(to)}`;
}

/**
 * Returns the scale of all pictures of a record: from 0 at the left end to 100 at the right end. It
 * includes 0 percent and every quartile.
 */
export function scaleOf({ after }: RecordFigures): (percent: number) => number {
  const values = after.flatMap((one) => [one, one.control]).flatMap(({ q1, q3 }) => [q1 ?? 0, q3 ?? 0]);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  return (percent) => (high === low ? 50 : (100 * (percent - low)) / (high - low));
}
