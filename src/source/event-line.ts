import type { EventBody } from "../protocol/index.ts";

/**
 * Formats an event as a line of NDJSON without the line break:
 * `{"seq":…,"name":…,"channel":…,"observed_at":…,"data":{…}}`. The line depends on the event alone,
 * so a recording yields the same bytes on each run (law L4): no wall-clock time, no epoch. `seq`
 * starts at 1.
 */
export function eventLine(seq: number, { name, channel, observed_at, data }: EventBody): string {
  return JSON.stringify({ seq, name, channel, observed_at, data });
}
