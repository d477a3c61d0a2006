import { formatCount } from "../../../base/lib/text/figures.ts";
import { formatPct } from "../../../base/lib/text/percent.ts";
import type { Explanation, Term } from "../../../base/model/index.ts";

/** Ratios of bought to sold dollars from here on are shown as this: the share is a lower bound. */
const MAX_RATIO = 20;

/**
 * Says a term in a few words, such as `5.3× buyers` or `$1.9 per $1 sold`; `undefined` if it is no
 * reason: it is about usual, or its usual value is not known.
 */
export function termText(
  { name, raw, usual }: Term,
  { form }: Pick<Explanation, "form">,
): string | undefined {
  switch (name) {
    case "buyers":
      if (usual !== null && usual > 0) return timesText(raw / usual, "buyers");
      return raw < 1 ? undefined : `${formatCount(Math.round(raw))} buyers`;
    case "volume":
      return usual === null ? undefined : timesText(raw, form === "seconds" ? "buying" : "volume");
    case "price":
      return Math.abs(raw) < 0.005 ? undefined : `${formatPct(100 * Math.expm1(raw))} vs normal`;
    case "imbalance": {
      const share = Math.min(1, 0.5 + raw);
      const ratio = share / (1 - share);
      const dollars = ratio >= MAX_RATIO ? `≥ $${MAX_RATIO}` : `$${figure(ratio)}`;
      return ratio < 1.1 ? undefined : `${dollars} per $1 sold`;
    }
    case "flow":
      return raw < 0.5 ? undefined : `${figure(raw)} min of buying`;
    case "rush":
      return raw < 2 ? undefined : `${formatCount(Math.round(raw))} buys at once`;
  }
}

function timesText(ratio: number, what: string): string | undefined {
  return ratio < 1.2 ? undefined : `${figure(ratio)}× ${what}`;
}

/** One decimal below 10, whole above. */
function figure(value: number): string {
  return value < 9.95 ? String(Math.floor(10 * value) / 10) : formatCount(Math.round(value));
}
