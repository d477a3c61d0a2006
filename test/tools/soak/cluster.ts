import { PLANS } from "../../scale/cluster/plans.ts";
import { simulate } from "../../scale/cluster/simulation.ts";

/** Runs `seeds` seeds of each fault plan and prints the results. Returns the exit code. */
export function runSimulations(from: number, seeds: number): number {
  let failed = 0;
  for (const [name, plan] of Object.entries(PLANS)) {
    const startedAt = performance.now();
    const sums = { delivered: 0, terms: 0, epochs: 0 };
    for (let seed = from; seed < from + seeds; seed++) {
      const { violations, delivered, terms, epochs } = simulate(seed, plan);
      sums.delivered += delivered;
      sums.terms += terms;
      sums.epochs += epochs;
      if (violations.length === 0) continue;
      failed += 1;
      process.stdout.write(`${name}, seed ${seed}: ${violations.join("; ")}\n`);
    }
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    const words = `${seeds} seeds in ${seconds} s, ${sums.delivered} deliveries, ${sums.terms} terms, ${sums.epochs} epochs`;
    process.stdout.write(`${name}: ${words}\n`);
  }
  process.stdout.write(failed === 0 ? "all invariants hold\n" : `${failed} runs broke an invariant\n`);
  return failed === 0 ? 0 : 1;
}
