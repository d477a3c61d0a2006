import type { EventBody } from "../../base/protocol/index.ts";

/**
 * Formats an event as NDJSON: `{"seq":…,"name":…,"channel":…,"observed_at":…,"data":{…}}`, from the
 * event alone (law L4 of src/README.md): no wall-clock time, no log epoch. `seq` starts at 1.
 */
export function eventLine(seq: number, { name, channel, observed_at, data }: EventBody): string {
  return JSON.stringify({ seq, name, channel, observed_at, data });
}
