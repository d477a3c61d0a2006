import { readFileSync, writeFileSync } from "node:fs";
import type { EventBody, Snapshot } from "../../../src/protocol/index.ts";

/**
 * What a gateway publishes of the simulated market, second by second. The last batch leads back to
 * `base`, so that it can be played again and again.
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
