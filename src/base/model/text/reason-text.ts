import type { FlareRecord } from "../history.ts";

/** Stands in for the reason of a start that the server did not see, or whose source gave none. */
export const UNKNOWN_START = "The reason for its start is not stored.";

/** Returns why a flare started. If only a later reason is known, says so and names its time. */
export function reasonText({ flare, started, why }: Pick<FlareRecord, "flare" | "started" | "why">): string {
  if (started) return started.text;
  if (!why) return UNKNOWN_START;
  return `${UNKNOWN_START} ${flare.finished_trending_at === null ? nowReason(why.text) : endReason(why.text)}`;
}

/** Marks the reason as of an event or a request while the flare runs. */
export function nowReason(text: string): string {
  return `Now: ${text}`;
}

/** Marks the reason as of a flare's end. Otherwise it would look like that of its start. */
export function endReason(text: string): string {
  return `At its end: ${text}`;
}
