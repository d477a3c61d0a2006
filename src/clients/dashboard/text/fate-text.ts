import type { FinishCause } from "../../../base/model/index.ts";
import { END_TEXTS } from "../../../base/model/text/end-texts.ts";
import { formatSpan } from "../../text/span.ts";
import type { Bar } from "../state/timeline/bars.ts";
import { formatTime } from "./format.ts";

/** Explains each of {@link END_TEXTS} in a sentence. */
export const CAUSE_MEANINGS = {
  canary: "A grave warning, for example because liquidity was removed or nobody could sell",
  faded:
    "For some minutes, the score, buyers or volume were near normal for the token. The price may still be far from it",
  reversed: "At least half of the rise was lost and stayed lost",
  silent: "Almost nobody traded the token anymore",
  upstream: "The source no longer lists the flare, and gave no reason",
} as const satisfies Record<FinishCause, string>;

/** Describes a flare's course: `flaring since 20:31`, `ended at 20:40 after flaring for 9m 00s`. */
export function fateText({ cause, startMs, endMs }: Pick<Bar, "cause" | "startMs" | "endMs">): string {
  if (endMs === undefined) return `flaring since ${formatTime(startMs)}`;
  const end = cause ? END_TEXTS[cause] : "ended";
  return `${end} at ${formatTime(endMs)} after flaring for ${formatSpan(endMs - startMs)}`;
}
