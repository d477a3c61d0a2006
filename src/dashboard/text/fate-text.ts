import type { Bar } from "../state/timeline/bars.ts";
import { formatMinute, formatSpan } from "./format.ts";

/** How a flare ended, in words. */
export const CAUSES = {
  faded: "faded",
  silent: "ended in silence",
  canary: "ended by the canary",
  upstream: "no longer listed",
} as const;

/** Says how a flare goes or went: `flaring since 20:31`, `faded at 20:40 after 9m 00s`. */
export function fateText({ cause, startMs, endMs }: Pick<Bar, "cause" | "startMs" | "endMs">): string {
  if (endMs === undefined) return `flaring since ${formatMinute(startMs)}`;
  return `${cause ? CAUSES[cause] : "ended"} at ${formatMinute(endMs)} after ${formatSpan(endMs - startMs)}`;
}
