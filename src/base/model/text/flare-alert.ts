import { flarePath, tokenPath } from "../../lib/text/page-path.ts";
import { safeText } from "../../lib/text/safe-text.ts";
import type { Explanation } from "../explanation.ts";
import type { AnyFlare } from "../flare.ts";
import { groupOf, tokenOf } from "../key-of.ts";
import type { Outcome } from "../outcome.ts";
import type { Warned } from "./end-texts.ts";
import { namesInText } from "./item-name.ts";
import { lockedPart } from "./locked-text.ts";
import { oddsText } from "./odds-text.ts";
import { outcomeText } from "./outcome-text.ts";

/** What a notification says, shown by the page or pushed by the server. */
export interface FlareAlert {
  readonly title: string;
  readonly body: string;
  /** The same for all notifications about one thing, so that a later one replaces the first. */
  readonly tag: string;
  /** Where a click leads, below the page's address. */
  readonly path: string;
}

/** Announces a flare's start, how much liquidity is locked, and how flares like it went. */
export function startedAlert(flare: AnyFlare, why: Explanation | null | undefined): FlareAlert {
  return {
    title: `${nameOf(flare)} is flaring`,
    body: [why?.text ?? "", lockedPart(why?.locked), oddsText(why?.odds)]
      .filter((part) => part !== "")
      .join("; "),
    tag: `start ${flare.id}`,
    path: `#/${tokenPath(groupOf(flare), tokenOf(flare))}`,
  };
}

/** Announces a running flare's surge; `why`: its explanation as of the surge. */
export function surgedAlert(flare: AnyFlare, why: Explanation): FlareAlert {
  const { title: _title, ...start } = startedAlert(flare, why);
  return { ...start, title: `${nameOf(flare)} surges again`, tag: `surge ${why.surge?.number} ${flare.id}` };
}

/** Announces a flare's end; `why`: its explanation as of the end. */
export function finishedAlert(
  flare: AnyFlare,
  outcome: Outcome | null | undefined,
  why: Warned | null | undefined,
): FlareAlert {
  return {
    title: `${nameOf(flare)}: the flare ended`,
    body: outcome ? outcomeText(outcome, why) : "",
    tag: `end ${flare.id}`,
    path: flarePath(flare.id),
  };
}

/** Returns a token's name in an alert: `T1`, `BTC/USDT on binance`. */
export function nameOf(flare: AnyFlare): string {
  return namesInText(flare, groupOf(flare)).map(safeText).join(" on ");
}
