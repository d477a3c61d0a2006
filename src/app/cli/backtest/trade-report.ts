import { counted } from "../../../base/lib/text/figures.ts";
import { formatPct, formatShare } from "../../../base/lib/text/percent.ts";
import { isoTime } from "../../../base/lib/time/iso-time.ts";
import { MINUTE_MS } from "../../../base/lib/time/time.ts";
import { groupedKey } from "../../../base/model/token-key.ts";
import { alignColumns } from "../terminal/columns.ts";
import { plainText } from "../terminal/plain-text.ts";
import { type Costs, gainOf, type PaperTrade } from "./paper-broker.ts";
import type { PriceHistory } from "./price-history.ts";

/** A bot's trades, and what the same tokens gave at other moments. Gains are parts of a stake. */
export interface TradeReport {
  readonly costs: Costs;
  readonly trades: readonly ReportedTrade[];
  /** Purchases that never filled, because the token had no later price. */
  readonly unfilled: number;
  readonly summary: Gains & {
    /** The sum of all trades, in stakes. */
    readonly total: number;
    readonly total_before_costs: number;
  };
  /** The same tokens, held as long, from moments spread evenly over their recorded prices. */
  readonly control: Gains;
}

interface Gains {
  readonly n: number;
  readonly won: number;
  /** `null` without a trade. */
  readonly mean: number | null;
  readonly median: number | null;
}

interface ReportedTrade {
  readonly group: string;
  readonly token: string;
  /** As the bot named it; the token if it did not. */
  readonly symbol: string;
  readonly ordered_at: string;
  readonly bought_at: string;
  readonly bought: string;
  /** Of the last known price if `open`. */
  readonly sold_at: string;
  readonly sold: string;
  readonly open: boolean;
  readonly reason: string;
  readonly result: number;
  readonly before_costs: number;
}

export function reportTrades(
  { trades, unfilled }: { readonly trades: readonly PaperTrade[]; readonly unfilled: number },
  costs: Costs,
  history: PriceHistory,
): TradeReport {
  const results = trades.map(({ result }) => result);
  return {
    costs,
    trades: trades.map(toReported),
    unfilled,
    summary: {
      ...gainsOf(results),
      total: round(sum(results)),
      total_before_costs: round(sum(trades.map(({ gross }) => gross))),
    },
    control: gainsOf(trades.flatMap((trade) => controlsOf(trade, costs, history))),
  };
}

/** Returns the table for a terminal: a line for each trade, then the sums. */
export function describeTrades({ costs, trades, unfilled, summary, control }: TradeReport): string {
  const rows = trades.map(({ bought_at, sold_at, symbol, bought, sold, result, reason, open }) => [
    ...[bought_at.slice(0, 16), sold_at.slice(0, 16), plainText(symbol, 42), `${bought} to ${sold}`],
    percent(result),
    open ? "still held: valued, not sold" : plainText(reason, 40),
  ]);
  const head = ["bought", "sold", "token", "price", "result", "reason"];
  return [
    ...(rows.length === 0 ? [] : [...alignColumns([head, ...rows]), ""]),
    `${counted(summary.n, "trade")}, ${summary.won} won: mean ${percent(summary.mean)}, median ${percent(summary.median)}, total ${percent(summary.total)} of one stake (${percent(summary.total_before_costs)} before costs)`,
    `control: mean ${percent(control.mean)}, median ${percent(control.median)} for the same tokens, held as long, from ${counted(control.n, "other moment")}`,
    `costs: ${formatShare(costs.fee, 4)} fee and ${formatShare(costs.slippage, 4)} slippage for each purchase and each sale`,
    ...(unfilled === 0
      ? []
      : [`${counted(unfilled, "order")} to buy never filled: the token had no later price`]),
  ].join("\n");
}

function toReported({
  token,
  orderedAtMs,
  bought,
  sold,
  isOpen,
  reason,
  ...gains
}: PaperTrade): ReportedTrade {
  return {
    group: token.group,
    token: token.token,
    symbol: token.symbol ?? token.token,
    ordered_at: isoTime(orderedAtMs),
    bought_at: isoTime(bought.atMs),
    bought: bought.text,
    sold_at: isoTime(sold.atMs),
    sold: sold.text,
    open: isOpen,
    reason,
    result: round(gains.result),
    before_costs: round(gains.gross),
  };
}

/** Returns the gains of the same purchase at other moments. */
function controlsOf({ token, bought, sold }: PaperTrade, costs: Costs, history: PriceHistory): number[] {
  const minutes = Math.max(1, Math.round((sold.atMs - bought.atMs) / MINUTE_MS));
  return history.changes(groupedKey(token), minutes).map(([from, to]) => gainOf(from, to, costs));
}

function gainsOf(gains: readonly number[]): Gains {
  const sorted = gains.toSorted((a, b) => a - b);
  const [below, above] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return {
    n: gains.length,
    won: gains.filter((gain) => gain > 0).length,
    mean: gains.length === 0 ? null : round(sum(gains) / gains.length),
    median: below === undefined || above === undefined ? null : round((below + above) / 2),
  };
}

function percent(part: number | null): string {
  return part === null ? "unknown" : formatPct(part * 100, 2);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function round(value: number): number {
  return Number(value.toFixed(6));
}
