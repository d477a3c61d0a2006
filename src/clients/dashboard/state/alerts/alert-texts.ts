import { formatPct } from "../../../../base/lib/text/percent.ts";
import { END_TEXTS } from "../../../../base/model/text/end-texts.ts";
import {
  type FlareAlert,
  finishedAlert,
  nameOf,
  startedAlert,
  surgedAlert,
} from "../../../../base/model/text/flare-alert.ts";
import type { AlertHit } from "./alert-watch.ts";

/** More alerts at once become one notification. */
const MAX_SINGLE = 3;

/** Returns a notification for each alert, or one for all if there are more than three. */
export function alertTexts(hits: readonly AlertHit[]): readonly FlareAlert[] {
  if (hits.length <= MAX_SINGLE)
    return hits.map(({ flare, news, why, outcome }) => {
      if (news === "end") return finishedAlert(flare, outcome, why);
      return news === "surge" && why ? surgedAlert(flare, why) : startedAlert(flare, why);
    });
  const first = hits.slice(0, MAX_SINGLE).map(({ flare, news, outcome }) => {
    const ended = outcome ? END_TEXTS[outcome.ended_by] : "ended";
    return `${nameOf(flare)}: ${news === "end" ? ended : `${formatPct(flare.recent_price_change)} in 5 min`}`;
  });
  const body = `${first.join("; ")}; and ${hits.length - MAX_SINGLE} more`;
  return [{ title: `${hits.length} flares`, body, tag: "many", path: "#/now" }];
}
