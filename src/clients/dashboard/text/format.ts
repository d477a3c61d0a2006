import { signal } from "@preact/signals";
import { MINUTE_MS } from "../../../base/lib/time/time.ts";

/** The zone of all times of the page. A server renders UTC. */
export const zone = signal<"UTC" | "local">("UTC");

/** Returns the name of the zone, to put after a time. */
export function zoneName(): string {
  return zone.value === "UTC" ? "UTC" : "local time";
}

/** Formats the day and the time of day to the minute: `2017-11-12 20:31`. */
export function formatMoment(at: string | number): string {
  const moment = new Date(at);
  const offsetMs = zone.value === "UTC" ? 0 : moment.getTimezoneOffset() * MINUTE_MS;
  return new Date(moment.getTime() - offsetMs).toISOString().slice(0, 16).replace("T", " ");
}

/** Formats the time of day to the minute: `20:31`. In elements, use `TimeText`. */
export function formatTime(at: string | number): string {
  return formatMoment(at).slice(11);
}
