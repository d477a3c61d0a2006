import { z } from "zod";
import { DAY_MS, HOUR_MS } from "../../base/lib/time/time.ts";
import {
  duration,
  type Kind,
  numberText,
  type SettingsOf,
  type SettingTable,
  setting,
  size,
} from "../../base/settings/index.ts";

const KIB = 1_024;

function number(max: number): Kind<number> {
  const given = z.union([z.number(), numberText(/^\d{1,7}(\.\d{1,4})?$/)]);
  return { schema: given.pipe(z.number().min(0).max(max)), bound: `a number from 0 to ${max}` };
}

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
  recordFee: setting("recordFee", number(50), {
    default: "0.3",
    example: "1",
    description: "Fee of each purchase and each sale on a chain, in percent, in the track record's trades",
  }),
  recordExchangeFee: setting("recordExchangeFee", number(50), {
    default: "0.1",
    example: "0.2",
    description: "The same fee on the exchange",
  }),
  recordStake: setting("recordStake", number(1_000_000), {
    default: "100",
    example: "1000",
    description:
      "Dollars of each purchase in the track record's trades. On a chain, their slippage follows from the liquidity at the start",
  }),
} as const satisfies SettingTable;

export type HistorySettings = SettingsOf<typeof HISTORY_SETTINGS>;
