import { formatShare } from "../../lib/text/percent.ts";
import type { Frequency, Odds } from "../explanation.ts";

/**
 * Says how flares like this one went: `like it: 9 % rugged within the hour, 62 % higher after
 * 15 min (n 105)`. Empty without odds.
 */
export function oddsText(
  odds: Pick<Odds, "n" | "rug_60m" | "up_15m" | "fall_15m"> | null | undefined,
): string {
  if (!odds) return "";
  const share = (known: Frequency | null | undefined, what: string) =>
    known ? [`${formatShare(known.share, known.share < 0.01 ? 1 : 0)} ${what}`] : [];
  const parts = [
    ...share(odds.rug_60m, "rugged within the hour"),
    ...share(odds.up_15m, "higher after 15 min"),
    ...share(odds.fall_15m, "fell 3 % within 15 min"),
  ];
  return parts.length === 0 ? "" : `like it: ${parts.join(", ")} (n ${odds.n})`;
}
