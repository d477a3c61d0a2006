import { readFileSync, writeFileSync } from "node:fs";
import type { EventBody, Snapshot } from "../../../../src/base/protocol/index.ts";

/**
 * The batches that a gateway publishes of the simulated market, second by second. The last batch
 * returns to `base`, so that the market can be played repeatedly.
 */
export interface MarketFile {
  readonly base: Snapshot;
  readonly batches: readonly (readonly EventBody[])[];
}

export function writeMarket(path: string, market: MarketFile): void {
  writeFileSync(path, JSON.stringify(market));
}

export function readMarket(path: string): MarketFile {
  const market: MarketFile = JSON.parse(readFileSync(path, "utf8"));
  return market;
}
