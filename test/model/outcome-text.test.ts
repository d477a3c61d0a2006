import { expect, test } from "vitest";
import { Outcome, outcomeText } from "../../src/model/index.ts";
import { SAMPLE_OUTCOME } from "../support/world/samples.ts";

test.each([
  ["of a flare that just ended has its peak and its end", {}, "+14 % peak, back to normal at +5 %"],
  [
    "has the changes that are known",
    { change_15m: -3.2, change_60m: -8, final: true },
    "+14 % peak, −3 % after 15 min, −8 % after 60 min, back to normal at +5 %",
  ],
  [
    "names a collapse and a possible rug",
    {
      peak_change: 12,
      end_change: -43,
      collapsed_at: "2017-11-12T08:31:00.000Z",
      ended_by: "canary" as const,
    },
    "+12 % peak, collapsed, possible rug at −43 %",
  ],
  ["without a rise says so", { peak_change: 0.4, end_change: -2 }, "no rise, back to normal at −2 %"],
  [
    "of unknown prices has the end alone",
    { peak_change: null, end_change: null, ended_by: "silent" as const },
    "trading stopped",
  ],
  [
    "says that hardly anyone sold at its prices",
    { end_change: 43, ended_by: "canary" as const },
    "+14 % peak, possible rug at +43 %, hardly anyone sold: prices may not be realizable",
    ["no-seller", "repeat-buyers"],
  ],
])("an outcome in short %s", (_what, part, text, warnings: readonly string[] = ["repeat-buyers"]) => {
  const outcome = { ...SAMPLE_OUTCOME, ...part };
  expect(outcomeText(outcome, { warnings })).toBe(text);
  expect(Outcome.parse(outcome)).toEqual(outcome);
});
