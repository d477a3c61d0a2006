import fc from "fast-check";
import { expect } from "vitest";

/**
 * Checks a property with random cases, which count in `totals` the situations that they reach.
 * While a count does not exceed its number in `above`, it runs up to two more rounds. Then the test
 * fails, because a situation that no case reaches is not tested. Choose numbers that a broken
 * product does not exceed in three rounds.
 */
export async function assertReaching<Case, Name extends string>(
  law: fc.IProperty<Case> | fc.IAsyncProperty<Case>,
  runs: fc.Parameters<Case>,
  totals: Readonly<Record<NoInfer<Name>, number>>,
  above: Readonly<Record<Name, number>>,
): Promise<void> {
  const names = Object.keys(above) as Name[];
  for (let round = 0; round < 3; round += 1) {
    await fc.assert(law, runs);
    if (names.every((name) => totals[name] > above[name])) return;
  }
  for (const name of names) expect(totals[name], name).toBeGreaterThan(above[name]);
}
