import { FlarewireError, type Freshness } from "../../../base/protocol/index.ts";

/** Returns the error for requests before the first data, with the same reasons as `/readyz`. */
export function noDataYet({ state, reason, parts }: Freshness): FlarewireError {
  const why = state === "live" || reason === "" ? "the market's past is still being read" : reason;
  return new FlarewireError("not-ready", `no data yet: ${why}`, { parts });
}
