import type { MarketEvent } from "../../../market/index.ts";
import type { Skipped } from "./skips.ts";

/** Parses the lines of one recording format. */
export interface LineParser {
  /**
   * Classifies the first line that is not blank. `header` is consumed, `data` is parsed like the
   * rest, and anything else is the problem with the file.
   */
  firstLine(line: string): "header" | "data" | { readonly problem: string };
  /**
   * Appends a line's events to `out`, all at one time and `shiftMs` later than recorded. If the
   * line is unusable, returns the reason and leaves `out` unchanged.
   */
  parse(line: string, shiftMs: number, out: MarketEvent[]): Skipped | undefined;
  /** Returns the tokens in profiles that no line contained. */
  unusedProfiles(): readonly string[];
  /** Moves everything seen so far by `ms`, because laps are skipped. */
  advance(ms: number): void;
}
