import fc from "fast-check";
import { expect } from "vitest";

/**
 * Tries a law on random cases, and counts in `totals` what they reach. While a count does not
 * exceed its number in `above`, as many cases again are tried, up to three times as many. After
 * that the test fails: what is never reached proves nothing. Choose numbers that a broken product
 * does not reach with three times as many cases.
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
