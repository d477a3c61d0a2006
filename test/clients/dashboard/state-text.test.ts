import { expect, test } from "vitest";
import type { FlareRecord } from "../../../src/base/model/index.ts";
import { stateText } from "../../../src/clients/dashboard/text/state-text.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE, SAMPLE_OUTCOME } from "../../support/world/samples.ts";

const NOW_MS = Date.parse("2017-11-12T08:33:30.000Z");
const running: FlareRecord = {
  flare: SAMPLE_FLARE,
  started: null,
  why: { ...SAMPLE_EXPLANATION, warnings: [] },
  cause: null,
  outcome: null,
};
const ended = (warnings: string[], cause: "canary" | "faded", peak_change: number | null): FlareRecord => ({
  ...running,
  flare: { ...SAMPLE_FLARE, finished_trending_at: "2017-11-12T08:31:00.000Z" },
  why: { ...SAMPLE_EXPLANATION, warnings },
  cause,
  outcome: { ...SAMPLE_OUTCOME, peak_change },
});

test.for([
  [running, 12, NOW_MS, "Flaring for 12 min."],
  [
    { ...running, why: { ...SAMPLE_EXPLANATION, warnings: ["liquidity-removed"] } },
    -90,
    NOW_MS,
    "Liquidity removed. Flaring for 12 min.",
  ],
  [ended(["liquidity-removed"], "canary", 39), -94, NOW_MS, "Liquidity removed 08:31. Was +39 %, now −94 %."],
  [ended([], "canary", null), -94, NOW_MS, "Possible rug 08:31. Now −94 %."],
  [ended([], "faded", 0.2), undefined, NOW_MS, "Activity faded 08:31."],
  [ended([], "faded", 14), 4, NOW_MS + 86_400_000, "Activity faded 2017-11-12 08:31. Was +14 %, now +4 %."],
] as const)("a flare stands as it was told: %#", ([record, change, nowMs, text]) => {
  expect(stateText(record as FlareRecord, change, nowMs)).toBe(text);
});
