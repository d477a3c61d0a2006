import { expect, test } from "vitest";
import { type ChaosTally, runChaos } from "../tools/soak/chaos-run.ts";

/** The first seed. It is constant, unless SEED is set. `npm run soak` tries a thousand others. */
const FIRST = Number(process.env.SEED ?? 7);
const SEEDS = 2;
const FAULTS = ["cut", "frozen", "thawed", "slowed", "resumed", "resets", "abandoned"] as const;

test(`[L2] [L3] [P10] [W13] [W15] [W28] over connections that are cut, frozen, throttled and doubled, every client ends with the state that REST serves, with no gap and no repeat (SEED=${FIRST})`, async () => {
  const tallies: ChaosTally[] = [];
  const total = (field: Exclude<keyof ChaosTally, "ends">) =>
    tallies.reduce((sum, tally) => sum + tally[field], 0);
  // A fault that never occurs is not tested, and the machine decides the timing.
  const isTested = () => FAULTS.every((field) => total(field) > 0);
  for (let seed = FIRST; seed < FIRST + SEEDS || !isTested(); seed += 1)
    tallies.push(await runChaos(seed, 0.3));
  expect(total("events")).toBeGreaterThan(100);
  expect(total("compared")).toBeGreaterThan(15);
});
