import { formatShare } from "../../lib/text/percent.ts";
import type { Explanation, Frequency, Odds } from "../explanation.ts";

/** Says how flares like this one went; empty without odds. */
export function oddsText(why: Pick<Explanation, "odds"> | null | undefined): string {
  return why?.odds ? `like it: ${frequenciesOf(why.odds)} (n ${why.odds.n})` : "";
}

function frequenciesOf({ rug_60m, up_15m, up_60m, fall_15m }: Odds): string {
  const text = (known: Frequency | null | undefined, what: string) =>
    known ? [`${formatShare(known.share, known.share < 0.01 ? 1 : 0)} ${what}`] : [];
  return [
    ...text(rug_60m, "rugged within the hour"),
    ...text(up_15m, "higher after 15 min"),
    ...text(up_60m, "after 60 min"),
    ...text(fall_15m, "fell 3 % within 15 min"),
  ].join(", ");
}
