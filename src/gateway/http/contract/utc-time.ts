import { isoTime } from "../../../base/lib/time/iso-time.ts";

/** A time, or a date, which is its midnight. */
export const UTC_TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/;

/**
 * Parses a time in the form {@link UTC_TIME}. Returns milliseconds since 1970; `undefined` for
 * another form or a date that does not exist.
 */
export function parseUtcTime(text: string): number | undefined {
  const ms = UTC_TIME.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse takes 30 February as 2 March.
  return Number.isNaN(ms) || !text.startsWith(isoTime(ms).slice(0, 10)) ? undefined : ms;
}
