import type { Snapshot } from "../../src/model/index.ts";

/** Returns what a client of every list holds, after JSON: candles have a resource of their own. */
export function shownLists({ candles: _apart, ...lists }: Snapshot): Omit<Snapshot, "candles"> {
  return JSON.parse(JSON.stringify(lists));
}
