import { describe, expect, test } from "vitest";
import { lawRuns } from "../../support/law-runs.ts";
import { PLANS } from "./plans.ts";
import { type Outcome, simulate } from "./simulation.ts";

/** Number of seeds for each plan. `npm run soak -- cluster` runs ten thousand. */
const SEEDS = lawRuns(40, 60).numRuns;
const all: Outcome[] = [];

describe.each(Object.entries(PLANS))("%s", (_name, plan) => {
  const outcomes = Array.from({ length: SEEDS }, (_, index) => simulate(index + 1, plan));
  all.push(...outcomes);

  test("[I1] [I2] [I3] three nodes violate no invariant, and exactly one of them leads in the end", () => {
    expect(
      outcomes.flatMap(({ violations }, index) => violations.map((words) => `seed ${index + 1}: ${words}`)),
    ).toEqual([]);
    expect(Math.min(...outcomes.map(({ delivered }) => delivered))).toBeGreaterThan(20);
  });

  test.runIf(!plan.maySplit)("no new epoch begins", () => {
    expect(outcomes.filter(({ epochs }) => epochs !== 1)).toEqual([]);
  });
});

test("[I3] if the engine acknowledges entries before a replica has them, some run violates I3", () => {
  const plan = PLANS["a machine with the leader and the primary dies"];
  if (!plan) throw new Error("no such plan");
  const isBroken = (seed: number) =>
    simulate(seed, { ...plan, isHasty: true }).violations.some((words) => words.startsWith("I3"));
  expect(Array.from({ length: 180 }, (_, index) => index + 1).some(isBroken)).toBe(true);
});

test("the simulated faults take effect: leaders change, and some runs need a new epoch", () => {
  expect(all.filter(({ terms }) => terms > 1).length).toBeGreaterThan(SEEDS);
  expect(all.filter(({ epochs }) => epochs > 1).length).toBeGreaterThan(0);
});
