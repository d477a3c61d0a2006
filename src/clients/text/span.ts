import { HOUR_MS, MINUTE_MS } from "../../base/lib/time/time.ts";

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

/** Formats milliseconds in whole minutes: `< 1 min`, `12 min`, from two hours `2h 05m`. */
export function formatMinutes(ms: number): string {
  if (ms < MINUTE_MS) return "< 1 min";
  return ms < 2 * HOUR_MS ? `${Math.floor(ms / MINUTE_MS)} min` : formatSpan(ms);
}
