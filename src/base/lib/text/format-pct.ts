import { formatCompact } from "./format-compact.ts";

/** From here on, a change is shown in compact form, because more digits would say nothing more. */
const MIN_COMPACT_PCT = 10_000;

/**
 * Formats a signed percentage: `+12 %`, `−3.4 %`, `+12.3K %`, `±0 %`. Without decimals it has at
 * most nine characters. `digits`: number of decimals below 10,000 %.
 */
export function formatPct(pct: number, digits = 0): string {
  const size = Math.abs(pct);
  const text = size < MIN_COMPACT_PCT ? size.toFixed(digits) : formatCompact(size);
  const sign = Number(text) === 0 ? "±" : pct > 0 ? "+" : "−";
  return `${sign}${text} %`;
}

/** Keeps each percentage of a text on one line, such as `−3 %`. */
export function withWholePcts(text: string): string {
  return text.replaceAll(" %", "\u00a0%");
}
