import type { Seen } from "./shared-feed.ts";

/** Says that the market is not real, or the data old: ` (simulated market, not up to date)`. */
export function limitsOf({ state, origin }: Seen): string {
  const market = origin === undefined || origin === "live" ? [] : [`${origin} market`];
  const limits = [...market, ...(state === "live" ? [] : ["not up to date"])];
  return limits.length === 0 ? "" : ` (${limits.join(", ")})`;
}
