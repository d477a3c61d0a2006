import { expect, test } from "vitest";
import { runPast } from "../../tools/soak/past.ts";

const HOUR_MS = 3_600_000;

/** `npm run soak -- at` does the same for a thousand minutes of a week. */
test("[T1] past minutes of a simulated market have the bytes of the live responses, also for single flares", async () => {
  const run = await runPast({
    seed: 3,
    days: 1 / 48,
    minutes: 5,
    measured: 0,
    tokens: 24,
    warmupMs: HOUR_MS,
  });
  expect(run.wrong).toEqual([]);
  // Ten comparisons are without single flares.
  expect(run.compared).toBeGreaterThan(5 * 10);
  expect(run.stored).toBeGreaterThanOrEqual(28);
});
