import { expect, test } from "vitest";
import { reasonText } from "../../../src/base/model/text/reason-text.ts";
import { finishAt } from "../../extensions/history/flare-records.ts";
import { SAMPLE_EXPLANATION } from "../../support/world/samples.ts";

const { flare, why } = finishAt(7, 20);
const { text } = SAMPLE_EXPLANATION;
const unknown = "The reason for its start is not stored.";

test.each([
  ["is that of the flare's start", { flare, why, started: SAMPLE_EXPLANATION }, text],
  [
    "as of the flare's end is marked as such",
    { flare, why, started: null },
    `${unknown} At its end: ${text}`,
  ],
  [
    "as of now is marked as such",
    { flare: { ...flare, finished_trending_at: null }, why, started: null },
    `${unknown} Now: ${text}`,
  ],
  ["that is unknown is reported as not stored", { flare, why: null, started: null }, unknown],
])("the reason %s", (_what, record, expected) => {
  expect(reasonText(record)).toBe(expected);
});
