import { expect, test } from "vitest";
import { reasonText } from "../../src/model/text/reason-text.ts";
import { finishAt } from "../history/flare-records.ts";
import { SAMPLE_EXPLANATION } from "../support/world/samples.ts";

const { flare, why } = finishAt(7, 20);
const { text } = SAMPLE_EXPLANATION;
const unknown = "The reason for its start is not stored.";

test.each([
  ["of a flare is that of its start", { flare, why, started: SAMPLE_EXPLANATION }, text],
  [
    "that is only known as of the end says so",
    { flare, why, started: null },
    `${unknown} At its end: ${text}`,
  ],
  [
    "that is only known as of now says so",
    { flare: { ...flare, finished_trending_at: null }, why, started: null },
    `${unknown} Now: ${text}`,
  ],
  ["that is unknown is not made up", { flare, why: null, started: null }, unknown],
])("the reason %s", (_what, record, expected) => {
  expect(reasonText(record)).toBe(expected);
});
