import { formatPct, formatShare } from "../../base/lib/text/percent.ts";
import type { Group, Outcome, RecordTrades } from "../../base/model/index.ts";
import type { HistorySettings } from "./history-settings.ts";

type RecordSettings = Pick<HistorySettings, "recordFee" | "recordExchangeFee" | "recordStake">;

/** What a purchase and a sale cost, in percent of each. */
export interface TradeCosts {
  readonly feePct: number;
  /** Assumed where the depth of the pool is unknown, or `stakeUsd` is not given. */
  readonly slippagePct: number;
  /** The slippage is that of this stake in an x·y=k pool with the liquidity at the start. */
  readonly stakeUsd?: number;
}

export type CostsOf = (group: Group) => TradeCosts;

/** Returns the costs that a group's trades are assumed to have. */
export function costsWith({ recordFee, recordExchangeFee, recordStake }: RecordSettings): CostsOf {
  return (group) =>
    group !== "exchange"
      ? { feePct: recordFee, slippagePct: 0.5, stakeUsd: recordStake }
      : { feePct: recordExchangeFee, slippagePct: 0.1 };
}

/** The costs of the settings' defaults. */
export const usualCosts = costsWith({ recordFee: 0.3, recordExchangeFee: 0.1, recordStake: 100 });

/** With fewer trades, or fewer of the control, the result may be chance. */
const MIN_JUDGED = 30;

/** The control's lengths in minutes, in ascending order. */
const LENGTHS = [5, 15, 60] as const;

/** Buys at each flare's start and sells at its end. */
export function tradesOf(outcomes: readonly Outcome[], costs: TradeCosts): RecordTrades {
  const held = outcomes.filter((outcome) => typeof outcome.held?.change_end === "number");
  const changes = held.map((outcome) => gainOf(outcome.held?.change_end ?? 0, outcome, costs));
  const control = held.flatMap((outcome) => {
    const minutes = nearest((outcome.held?.end_s ?? 0) / 60);
    return (outcome.control?.[`change_${minutes}m`] ?? []).map((change) => gainOf(change, outcome, costs));
  });
  const all = {
    ...summarize(changes),
    worthless: held.filter((outcome) => outcome.held?.change_end === -100).length,
    unknown: outcomes.length - held.length,
    rugged_60m: outcomes.filter((outcome) => outcome.held?.rugged_s != null).length,
    control: summarize(control),
  };
  return { text: sentence(all, costs), ...all };
}

/** Says whether buying at each start and selling at its end was worth it. */
function sentence(
  { n, worthless, rugged_60m, control, mean, median, won }: Omit<RecordTrades, "text">,
  { feePct, slippagePct, stakeUsd }: TradeCosts,
): string {
  const slippage = stakeUsd === undefined ? `${slippagePct} % slippage` : `the slippage of $${stakeUsd}`;
  const rule = `Bought at each start and sold at its end, with ${feePct} % fee a side and ${slippage}`;
  if (mean === null || n < MIN_JUDGED)
    return `${rule}: no verdict, because ${n} is too few (needs ${MIN_JUDGED}).`;
  const dead = `${worthless} of them worthless`;
  const own = `mean ${pct(mean)}, median ${pct(median)}, ${formatShare(won)} won (n ${n}, ${dead}; ${rugged_60m} rugged within the hour)`;
  if (control.mean === null || control.n < MIN_JUDGED)
    return `${rule}: ${own}. The control is too small for a verdict: n ${control.n}, and it needs ${MIN_JUDGED}.`;
  const isMore = mean > control.mean;
  const isUsuallyMore = (median ?? 0) > (control.median ?? 0);
  const mixed = isMore ? "better only by the mean" : "better only by the median";
  const verdict = isMore !== isUsuallyMore ? mixed : isMore ? "better" : "worse";
  return `${rule}: ${own}. The same tokens for as long from other moments: mean ${pct(control.mean)}, median ${pct(control.median)} (n ${control.n}, known prices only). The flares did ${verdict}.`;
}

function pct(change: number | null): string {
  return change === null ? "unknown" : formatPct(change, 1);
}

/** Returns what is left of a change in percent after the costs of both sides. */
function gainOf(change: number, { start_liquidity }: Outcome, costs: TradeCosts): number {
  const { feePct, slippagePct, stakeUsd } = costs;
  const liquidity = Number(start_liquidity ?? 0);
  // Half of the liquidity is the reserve that the stake moves.
  const slippage = stakeUsd !== undefined && liquidity > 0 ? (2 * stakeUsd) / liquidity : slippagePct / 100;
  const side = (1 - feePct / 100) / (1 + feePct / 100) / (1 + slippage) ** 2;
  return 100 * ((1 + change / 100) * side - 1);
}

function nearest(minutes: number): (typeof LENGTHS)[number] {
  return LENGTHS.reduce((best, one) => (Math.abs(one - minutes) < Math.abs(best - minutes) ? one : best));
}

function summarize(gains: readonly number[]) {
  const sorted = gains.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  const rounded = (number: number) => Number(number.toFixed(2));
  const n = gains.length;
  return {
    n,
    won: n === 0 ? null : Number((gains.filter((gain) => gain > 0).length / n).toFixed(4)),
    mean: n === 0 ? null : rounded(gains.reduce((sum, gain) => sum + gain, 0) / n),
    median: low === undefined || high === undefined ? null : rounded((low + high) / 2),
  };
}
