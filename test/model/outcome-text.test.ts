import { expect, test } from "vitest";
import { Outcome, outcomeText } from "../../src/model/index.ts";
import { SAMPLE_OUTCOME } from "../support/samples.ts";

test.each([
  ["of a flare that just ended has its peak and its end", {}, "+14 % peak, back to normal at +5 %"],
  [
    "has the changes that are known",
    { change_15m: -3.2, change_60m: -8, final: true },
    "+14 % peak, −3 % after 15 min, −8 % after 60 min, back to normal at +5 %",
  ],
  [
    "names a collapse and the canary",
    {
      peak_change: 12,
      end_change: -43,
      collapsed_at: "2017-11-12T08:31:00.000Z",
      ended_by: "canary" as const,
    },
    "+12 % peak, collapsed, possible rug at −43 %",
  ],
  [
    "of unknown prices has the end alone",
    { peak_change: null, end_change: null, ended_by: "silent" as const },
    "trading stopped",
  ],
])("an outcome in short %s", (_what, part, text) => {
  const outcome = { ...SAMPLE_OUTCOME, ...part };
  expect(outcomeText(outcome)).toBe(text);
  expect(Outcome.parse(outcome)).toEqual(outcome);
});
