import type { MarketEvent } from "../../../base/market/index.ts";
import type { Skipped } from "./skips.ts";

export interface LineParser {
  /**
   * Classifies a file's first non-blank line: a header, which is not parsed, data, or a problem.
   */
  firstLine(line: string): "header" | "data" | { readonly problem: string };
  /** Appends a line's events to `out`, `shiftMs` later, or returns the reason it is unusable. */
  parse(line: string, shiftMs: number, out: MarketEvent[]): Skipped | undefined;
  /** Returns the names in the profiles file that no usable line contained. */
  unusedProfiles(): readonly string[];
  /** Moves the times of everything seen so far by `ms`. Called when laps are skipped. */
  advance(ms: number): void;
}
