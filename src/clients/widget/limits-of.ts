import type { Seen } from "./shared-feed.ts";

/** Says that the market is not real, or the data old: ` (simulated) (delayed)`. */
export function limitsOf({ state, origin = "live" }: Seen): string {
  return `${origin === "live" ? "" : ` (${origin})`}${state === "live" ? "" : " (delayed)"}`;
}
