import { DAY_MS, HOUR_MS } from "../../base/lib/time/time.ts";
import { duration, type SettingsOf, type SettingTable, setting, size } from "../../base/settings/index.ts";

const KIB = 1_024;

/** How much history is stored. */
export const HISTORY_SETTINGS = {
  historyAge: setting("historyMs", duration(HOUR_MS, 366 * DAY_MS), {
    default: "30d",
    example: "90d",
    description:
      "Retention time of finished flares, with explanations and outcomes, and of the state of each minute, beyond the log",
  }),
  historyBytes: setting("historyBytes", size(64 * KIB), {
    default: "256MiB",
    example: "1GiB",
    description:
      "Limit of these records, half for flares and half for minutes, in the data directory or else in memory. It overrides historyAge: the oldest are deleted first",
  }),
} as const satisfies SettingTable;

export type HistorySettings = SettingsOf<typeof HISTORY_SETTINGS>;
