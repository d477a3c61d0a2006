import type { EventBody } from "../protocol/index.ts";

/**
 * One event as a line of NDJSON, without the line's end: `{"seq":…,"name":…,"channel":…,"observed_at":…,"data":{…}}`. A function of the event alone, so
 * that the same recording gives the same bytes on each run (law L4): no wall-clock time, no epoch. `seq` counts from 1.
 */
export function eventLine(seq: number, { name, channel, observed_at, data }: EventBody): string {
  return JSON.stringify({ seq, name, channel, observed_at, data });
}
