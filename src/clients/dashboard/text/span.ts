import { HOUR_MS, MINUTE_MS } from "../../../base/lib/time/time.ts";

/** Formats milliseconds in whole minutes: `1 min`, `59 min`, `3h 05m`, `2d`. */
export function minutesText(ms: number): string {
  return ms < 3_600_000 ? `${Math.max(0, Math.floor(ms / 60_000))} min` : formatSpan(ms);
}

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

/** Formats milliseconds in minutes, which a page need not count: `12 min`, from two hours `2h 05m`. */
export function formatMinutes(ms: number): string {
  if (ms < MINUTE_MS) return "less than a minute";
  return ms < 2 * HOUR_MS ? `${Math.floor(ms / MINUTE_MS)} min` : formatSpan(ms);
}
