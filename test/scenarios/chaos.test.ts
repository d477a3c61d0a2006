import { expect, test } from "vitest";
import { type ChaosTally, runChaos } from "../tools/soak/chaos-run.ts";

/** The first seed. It is constant, unless SEED is set. `npm run soak` tries a thousand others. */
const FIRST = Number(process.env.SEED ?? 7);
const SEEDS = Array.from({ length: 2 }, (_, at) => FIRST + at);

test(`[L2] [L3] [P10] [W13] [W15] [W28] over connections that are cut, frozen, throttled and doubled, every client ends with the state that REST serves, with no gap and no repeat (SEED=${FIRST})`, async () => {
  const tallies: ChaosTally[] = [];
  for (const seed of SEEDS) tallies.push(await runChaos(seed, 0.3));
  const total = (field: Exclude<keyof ChaosTally, "ends">) =>
    tallies.reduce((sum, tally) => sum + tally[field], 0);
  // A fault that never occurs is not tested.
  expect(total("events")).toBeGreaterThan(100);
  expect(total("compared")).toBeGreaterThan(15);
  for (const field of ["cut", "frozen", "thawed", "slowed", "resumed", "resets", "abandoned"] as const) {
    expect(total(field), field).toBeGreaterThan(0);
  }
});
