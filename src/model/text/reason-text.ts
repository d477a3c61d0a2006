import type { FlareRecord } from "../history.ts";

/** Returns why a flare started. If only a later reason is known, says so and names its time. */
export function reasonText({ flare, started, why }: Pick<FlareRecord, "flare" | "started" | "why">): string {
  if (started) return started.text;
  const unknown = "The reason for its start is not stored.";
  if (!why) return unknown;
  return `${unknown} ${flare.finished_trending_at === null ? nowReason(why.text) : endReason(why.text)}`;
}

/** Marks the reason as of an event or a request while the flare runs. */
export function nowReason(text: string): string {
  return `Now: ${text}`;
}

/** Marks the reason as of a flare's end. Otherwise it would look like that of its start. */
export function endReason(text: string): string {
  return `At its end: ${text}`;
}
