import { z } from "zod";
import { Explanation, FinishCause } from "./explanation.ts";
import { Flare } from "./flare.ts";
import { Outcome } from "./outcome.ts";

export const FlareRecord = z
  .object({
    flare: Flare.describe("Its final form; the current one while it runs."),
    started: Explanation.nullable().describe("Why it started; `null` if the server did not see the start."),
    why: Explanation.nullable().describe("The explanation as of its end, or now while it runs."),
    cause: FinishCause.nullable().describe("Why it ended; `null` while it runs."),
    outcome: Outcome.nullable().describe(
      "What the price did; `null` while the flare runs, or if the source measures none.",
    ),
  })
  .describe("One flare with its explanations and outcome.");
export type FlareRecord = z.infer<typeof FlareRecord>;
