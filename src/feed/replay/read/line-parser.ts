import type { MarketEvent } from "../../../market/index.ts";
import type { Skipped } from "./skips.ts";

/** Reads the lines of one form of recording. */
export interface LineParser {
  /**
   * Looks at the first line that is not blank: `header` is consumed, `data` is then parsed like the rest, anything else is
   * what is wrong with the file.
   */
  firstLine(line: string): "header" | "data" | { readonly problem: string };
  /**
   * Appends to `out` what the line says, all of one time and `shiftMs` later than recorded. What it returns instead is why
   * the line is left out; `out` is then as it was.
   */
  parse(line: string, shiftMs: number, out: MarketEvent[]): Skipped | undefined;
  /** Tokens that profiles name and that no line had. */
  unusedProfiles(): readonly string[];
  /** Takes what was seen so far as seen that much later: laps are left out. */
  advance(ms: number): void;
}
