import { safeText } from "../../../lib/text/safe-text.ts";
import { type FlareAlert, finishedAlert, startedAlert } from "../../../model/text/flare-alert.ts";
import type { AlertHit } from "./alert-watch.ts";

/** More at once are one notification. */
const MAX_SINGLE = 3;

/** Returns a notification for each alert, or one for all if they are many. */
export function alertTexts(hits: readonly AlertHit[]): readonly FlareAlert[] {
  if (hits.length <= MAX_SINGLE)
    return hits.map(({ flare, why, outcome, isFinished }) =>
      isFinished ? finishedAlert(flare, outcome, why) : startedAlert(flare, why?.text),
    );
  const symbols = hits.slice(0, MAX_SINGLE).map(({ flare }) => safeText(flare.token.symbol));
  const body = `${symbols.join(", ")} and ${hits.length - MAX_SINGLE} more`;
  return [{ title: `${hits.length} flares`, body, tag: "many", path: "#/flares" }];
}
