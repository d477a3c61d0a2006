import { assertNever } from "../../../base/lib/assert-never.ts";
import { formatCount, formatDollars } from "../../../base/lib/text/format-compact.ts";
import type { Term } from "../../../base/model/index.ts";

/**
 * Formats milliseconds as `2d` (from 48 hours), `1h 05m`, `4m 10s` or `12s`; negative values as
 * `0s`.
 */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (n: number) => String(n).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  const hours = Math.floor(seconds / 3_600);
  if (hours < 48) return `${hours}h ${two(Math.floor((seconds % 3_600) / 60))}m`;
  return `${Math.floor(hours / 24)}d`;
}

/** Formats US dollars as `$12.3K` or `$988`; `–` if unknown, which the API sends as 0. */
export function formatUsd(decimal: string): string {
  const usd = Number(decimal);
  return usd > 0 && Number.isFinite(usd) ? formatDollars(usd) : "–";
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
    case "imbalance":
      // A lower bound of the share of buys among trades, minus one half.
      return [`≥ ${(100 * Math.min(1, raw + 0.5)).toFixed(1)}`, "% buys"];
    default:
      return assertNever(name);
  }
}

export function shortAddress(address: string): string {
  return address.length > 13 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address;
}

/** Formats the time of day in UTC: `20:31:05`. In elements, use `TimeText`. */
export function formatTime(timestamp: string): string {
  return timestamp.slice(11, 19);
}

/** Formats the time of day in UTC to the minute: `20:31`. */
export function formatMinute(atMs: number): string {
  return formatTime(new Date(atMs).toISOString()).slice(0, 5);
}
