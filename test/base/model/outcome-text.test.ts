import { expect, test } from "vitest";
import { Outcome, outcomeText } from "../../../src/base/model/index.ts";
import { SAMPLE_OUTCOME } from "../../support/world/samples.ts";

test.each([
  ["names the peak and the end of a flare that just ended", {}, "+14 % peak, activity faded at +5 %"],
  [
    "names the known changes",
    { change_15m: -3.2, change_60m: -8, final: true },
    "+14 % peak, −3 % after 15 min, −8 % after 60 min, activity faded at +5 %",
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
  ["says that there was no rise", { peak_change: 0.4, end_change: -2 }, "no rise, activity faded at −2 %"],
  [
    "names only the cause of the end if no prices are known",
    { peak_change: null, end_change: null, ended_by: "silent" as const },
    "trading stopped",
  ],
  [
    "warns that hardly anyone sold at its prices",
    { end_change: 43, ended_by: "canary" as const },
    "+14 % peak, possible rug at +43 %, hardly anyone sold: prices may not be realizable",
    ["no-seller", "repeat-buyers"],
  ],
])("the text of an outcome %s", (_what, part, text, warnings: readonly string[] = ["repeat-buyers"]) => {
  const outcome = { ...SAMPLE_OUTCOME, ...part };
  expect(outcomeText(outcome, { warnings })).toBe(text);
  expect(Outcome.parse(outcome)).toEqual(outcome);
});
