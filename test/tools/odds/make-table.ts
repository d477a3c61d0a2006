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

/** Returns the text of the module that ships with the code, in the house's format. */
export function tableText(flares: readonly Ended[], madeOn: string): string {
  const rows = Object.entries(makeTable(flares)).map(([key, { n, rugged, up15, up60, median }]) => {
    const counts = [rugged, up15, up60].flatMap(({ yes, of }) => [yes, of]);
    return `  ${/\W/.test(key) ? JSON.stringify(key) : key}: [${[n, ...counts, median].join(", ")}],`;
  });
  const tokens = new Set(flares.map(({ start }) => start.token)).size;
  return `import type { TableRows } from "./odds-table.ts";

/**
 * How ${flares.length} flares of ${tokens} real tokens ended. Made on ${madeOn} by
 * \`npm run odds\`.
 *
 * Origin: 400 Uniswap V2 pools on Ethereum with at least 20 trades, created in September and
 * October 2021 (collected by AlexDeLos, RugPullDetection). Their times are estimated from block
 * numbers, and each transaction counts as another trader. In a bucket's key, the number after a
 * name is that of its range. Each row: flares; rugged within an hour, of how many; higher after 15
 * minutes, of how many; after 60 minutes, of how many; median change after 60 minutes in percent.
 */
export const POOLS_TABLE: TableRows = {
${rows.join("\n")}
};
`;
}
