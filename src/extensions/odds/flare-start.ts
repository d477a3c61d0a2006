import type { MarketGroup } from "../../base/market/index.ts";
import type { Explanation } from "../../base/model/index.ts";

/** What the odds of a flare depend on, as of its start. `null` is unknown. */
export interface FlareStart {
  readonly group: MarketGroup;
  readonly form: Explanation["form"];
  readonly score: number;
  readonly ageS: number | null;
  readonly liquidityUsd: number | null;
  /** Share of the liquidity that nobody can remove within the hour. */
  readonly lockedShare: number | null;
}
