import { describe, expect, test } from "vitest";
import { PLANS } from "./plans.ts";
import { type Outcome, simulate } from "./simulation.ts";

/** Of each plan. `npm run soak -- cluster` runs ten thousand seeds. */
const SEEDS = 60;

describe.each(Object.entries(PLANS))("%s", (_name, plan) => {
  const outcomes: Outcome[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) outcomes.push(simulate(seed, plan));

  test("[I1] [I2] [I3] three nodes keep one history, and one of them leads in the end", () => {
    expect(
      outcomes.flatMap(({ violations }, index) => violations.map((words) => `seed ${index + 1}: ${words}`)),
    ).toEqual([]);
    expect(Math.min(...outcomes.map(({ delivered }) => delivered))).toBeGreaterThan(20);
  });

  test.runIf(!plan.maySplit)("no new epoch begins", () => {
    expect(outcomes.filter(({ epochs }) => epochs !== 1)).toEqual([]);
  });
});

test("[I3] if an entry counted as stored before a replica has it, nodes would deliver two histories", () => {
  const plan = PLANS["a machine with the leader and the primary dies"];
  if (!plan) throw new Error("no such plan");
  const seeds = Array.from({ length: 3 * SEEDS }, (_, index) => index + 1);
  const violations = seeds.flatMap((seed) => simulate(seed, { ...plan, isHasty: true }).violations);
  expect(violations.find((words) => words.startsWith("I3"))).toBeDefined();
});

test("the faults are real: leaders change, and epochs end where nobody has what the engine lost", () => {
  const runs = Object.values(PLANS).flatMap((plan) =>
    Array.from({ length: SEEDS }, (_, index) => simulate(index + 1, plan)),
  );
  expect(runs.filter(({ terms }) => terms > 1).length).toBeGreaterThan(SEEDS);
  expect(runs.filter(({ epochs }) => epochs > 1).length).toBeGreaterThan(0);
});
