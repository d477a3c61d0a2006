import { HOUR_MS, MINUTE_MS } from "../../base/lib/time/time.ts";
import { duration, type SettingTable, setting } from "../../base/settings/index.ts";

/** Polling of an upstream service. */
export const UPSTREAM_SETTINGS = {
  pollInterval: setting("pollIntervalMs", duration(100, HOUR_MS), {
    default: "1s",
    example: "5s",
    description: "Interval between two polls of an upstream service",
  }),
  upstreamTimeout: setting("upstreamTimeoutMs", duration(100, 5 * MINUTE_MS), {
    default: "5s",
    example: "2s",
    description: "Timeout of a request to an upstream service",
  }),
} as const satisfies SettingTable;
