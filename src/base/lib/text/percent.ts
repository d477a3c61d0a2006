import { formatCompact } from "./figures.ts";

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

/** Formats a percentage like {@link formatPct}, with one decimal; `–` if it is unknown. */
export function formatChange(pct: number | null | undefined): string {
  return pct == null ? "–" : formatPct(pct, 1);
}

/** Formats a share, such as 0.5, in percent with at most `digits` decimals; `–` if unknown. */
export function formatShare(share: number | null, digits = 0): string {
  return share === null ? "–" : `${Number((100 * share).toFixed(digits))} %`;
}

/** Formats a share as a length in a style sheet or picture: `12.500%`. */
export function cssShare(share: number): string {
  return `${(100 * share).toFixed(3)}%`;
}

/** Keeps each number of a text on one line with its unit, such as `−3 %` or `12 min`. */
export function withWholeUnits(text: string): string {
  return text.replace(
    /(?<=\d\w?) (?=%|(?:ms|s|min|h|d|[kMG]B|(?:second|minute|hour|day)s?)(?!\w))/g,
    "\u00a0",
  );
}
