import {
  addOutcome,
  createTally,
  keysOf,
  medianOf,
  type OddsTable,
} from "../../../src/extensions/odds/index.ts";
import type { Ended } from "./collect.ts";

/** Counts the flares of each bucket. */
export function makeTable(flares: readonly Ended[]): OddsTable {
  const tallies = new Map<string, ReturnType<typeof createTally>>();
  for (const { start, outcome } of flares) {
    for (const key of keysOf(start)) {
      const tally = tallies.get(key) ?? createTally();
      tallies.set(key, tally);
      addOutcome(tally, outcome, start.liquidityUsd !== null, Number.POSITIVE_INFINITY);
    }
  }
  const rows = [...tallies].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    rows.map(([key, { changes, ...counts }]) => [key, { ...counts, median: medianOf(changes) }]),
  );
}

/** Returns the text of the module that ships with the code. */
export function tableText(flares: readonly Ended[], madeAt: string): string {
  const rows = Object.entries(makeTable(flares)).map(
    ([key, row]) => `  ${JSON.stringify(key)}: ${JSON.stringify(row)},`,
  );
  const tokens = new Set(flares.map(({ start }) => start.token)).size;
  return `import type { OddsTable } from "./tally.ts";

/**
 * How ${flares.length} flares of ${tokens} tokens ended. They are of 400 Uniswap V2 pools on Ethereum, created in
 * September and October 2021, all with at least 20 trades. Times are estimated from blocks, and each transaction
 * counts as another trader. Collected by AlexDeLos (RugPullDetection). Made on ${madeAt} by \`npm run odds\`.
 */
export const POOLS_TABLE: OddsTable = {
${rows.join("\n")}
};
`;
}
