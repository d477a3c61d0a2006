import { FlarewireError, type Freshness } from "../../protocol/index.ts";

/** Returns the error before the first lists, with the reasons that `/readyz` has. */
export function noDataYet({ state, reason, parts }: Freshness): FlarewireError {
  const why = state === "live" || reason === "" ? "the market's past is still being read" : reason;
  return new FlarewireError("not-ready", `no data yet: ${why}`, { parts });
}
