import type { Explanation, Flare, FlareRecord } from "../../../../base/model/index.ts";
import { END_TEXTS } from "../../../../base/model/text/end-texts.ts";
import { outcomeText } from "../../../../base/model/text/outcome-text.ts";
import { UNKNOWN_START } from "../../../../base/model/text/reason-text.ts";
import type { View } from "../../../sdk/index.ts";
import { formatTime } from "../../text/format.ts";
import { formatSpan } from "../../text/span.ts";

/** A start or an end of a flare for which the server's log has no event. */
export interface PastNews {
  readonly name: "flare-started" | "flare-finished";
  readonly at: string;
  readonly flare: Flare;
  readonly words: string;
  readonly isByCanary: boolean;
}

/**
 * Returns the starts and ends of stored finished flares and the starts of running ones, newest
 * first. Omits those whose key is in `known`: the event's name, a space and the flare's id, as from
 * `newsKey`.
 */
export function pastNewsOf(
  records: readonly FlareRecord[],
  view: Pick<View, "flares" | "explanations"> | undefined,
  known: ReadonlySet<string | undefined>,
): readonly PastNews[] {
  const { flares, explanations = {} } = view ?? {};
  const running = (flares?.pro ?? flares?.free ?? []).map((flare) =>
    startOf(flare, runningText(explanations[flare.id])),
  );
  const ended = records.flatMap(({ flare: recorded, started, why, cause, outcome }) => {
    // The feed follows the flares of `bsc` only.
    const flare = recorded as Flare;
    if (flare.finished_trending_at === null) return [];
    const lastedMs = Date.parse(flare.finished_trending_at) - Date.parse(flare.started_trending_at);
    const end: PastNews = {
      name: "flare-finished",
      at: flare.finished_trending_at,
      flare,
      isByCanary: cause === "canary",
      words: outcome ? outcomeText(outcome, why) : cause ? END_TEXTS[cause] : "ended",
    };
    const unknown = `lasted ${formatSpan(lastedMs)}. ${UNKNOWN_START}`;
    return [startOf(flare, started?.text ?? unknown), end];
  });
  return [...running, ...ended]
    .filter(({ name, flare }) => !known.has(`${name} ${flare.id}`))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

/** The feed does not follow later reasons, so the text names the time of this one. */
function runningText(why: Explanation | undefined): string {
  return why ? `still flaring; at ${formatTime(why.at)}: ${why.text}` : "still flaring";
}

function startOf(flare: Flare, words: string): PastNews {
  return { name: "flare-started", at: flare.started_trending_at, flare, words, isByCanary: false };
}
