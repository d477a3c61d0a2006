import { expect, test } from "vitest";
import type { FlareRecord } from "../../../src/base/model/index.ts";
import { lockText, stateText } from "../../../src/clients/dashboard/text/state-text.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE, SAMPLE_OUTCOME } from "../../support/world/samples.ts";

const NOW_MS = Date.parse("2017-11-12T08:33:30.000Z");
const LATER = "2017-11-12T08:32:00.000Z";
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
  [running, 12, LATER, NOW_MS, "Flaring for 12 min."],
  [
    { ...running, why: { ...SAMPLE_EXPLANATION, warnings: ["liquidity-removed"] } },
    -90,
    LATER,
    NOW_MS,
    "Liquidity removed. Flaring for 12 min.",
  ],
  [
    ended(["liquidity-removed"], "canary", 39),
    -94,
    LATER,
    NOW_MS,
    "Liquidity removed 08:31. Was +39 %, now −94 %.",
  ],
  [ended([], "canary", null), -94, LATER, NOW_MS, "Possible rug 08:31. Now −94 %."],
  [ended([], "faded", 0.2), undefined, LATER, NOW_MS, "Activity faded 08:31."],
  [ended([], "faded", 14), 4, null, NOW_MS, "Activity faded 08:31. Was +14 %, last seen +4 %."],
  [
    ...[ended([], "faded", 14), 4, "2017-11-12T08:31:00.000Z", NOW_MS],
    "Activity faded 08:31. Was +14 %, +4 % at its end.",
  ],
  [
    ...[ended([], "faded", 14), 4, "2017-11-12T08:25:00.000Z", NOW_MS],
    "Activity faded 08:31. Was +14 %, last seen 08:25 at +4 %.",
  ],
  [
    ...[ended([], "faded", 14), 4, LATER, NOW_MS + 9 * 60_000],
    "Activity faded 08:31. Was +14 %, last seen 08:32 at +4 %.",
  ],
  [
    ...[ended([], "faded", 14), 4, LATER, NOW_MS + 86_400_000],
    "Activity faded 2017-11-12 08:31. Was +14 %, last seen 2017-11-12 08:32 at +4 %.",
  ],
] as const)("the state of a flare in words: %#", ([record, change, priceAt, nowMs, text]) => {
  expect(stateText(record as FlareRecord, change, priceAt, nowMs)).toBe(text);
});

test.for([
  [{ burned: 0, held: 0.98, until: "2017-11-12T09:00:00.000Z" }, "98 % locked until 2017-11-12"],
  [{ burned: 0, held: 0.98, until: "2017-11-12T08:20:00.000Z" }, "lock ended 08:20"],
  [{ burned: 0.5, held: 0.4, until: "2017-11-12T08:20:00.000Z" }, "50 % burned, lock ended 08:20"],
  [{ burned: 0.5, held: 0, until: "2017-11-12T08:20:00.000Z" }, "50 % burned"],
  [{ burned: 0, held: 0, until: "2017-11-12T08:20:00.000Z" }, "not locked"],
  [null, ""],
] as const)("liquidity counts as locked until its lock ends: %#", ([locked, text]) => {
  expect(lockText(locked, NOW_MS)).toBe(text);
});
