import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/index.ts";
import { SAMPLE_SNAPSHOT } from "../../support/samples.ts";

/** A market whose exchange chart has tokens with these symbols. */
export function chartOf(symbols: readonly string[]): Snapshot {
  const [item] = SAMPLE_SNAPSHOT.charts.exchange;
  if (!item) throw new Error("the sample has no chart");
  const exchange = symbols.map((symbol, at) => ({
    ...item,
    id: `0000000${at}-e2bb-5255-8caf-4136c566a962`,
    token: { ...item.token, symbol },
  }));
  return { ...EMPTY_SNAPSHOT, charts: { ...EMPTY_SNAPSHOT.charts, exchange } };
}
