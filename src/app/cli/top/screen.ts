import type { Output } from "../terminal/terminal.ts";

/** Switches to the alternate screen, without line wrap and cursor, and clears it. */
const ENTER = "\u001B[?1049h\u001B[?7l\u001B[?25l\u001B[2J";
const LEAVE = "\u001B[?7h\u001B[?25h\u001B[?1049l";

/** Draws on the whole terminal, and restores its content afterwards. */
export class Screen {
  readonly #output: Output;
  #drawn: readonly string[] = [];
  #state: "closed" | "open" | "left" = "closed";
  #isStale = true;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Columns and lines of the terminal. */
  get size(): { readonly width: number; readonly height: number } {
    // A terminal of unknown size reports 0.
    return { width: this.#output.columns || 80, height: this.#output.rows || 24 };
  }

  /** Takes the terminal, at first and after {@link pause}. Does nothing after {@link leave}. */
  enter(): void {
    if (this.#state !== "closed") return;
    this.#state = "open";
    this.#isStale = true;
    this.#output.write(ENTER);
  }

  /** Makes the next drawing complete, because the screen's content is lost. */
  invalidate(): void {
    this.#isStale = true;
  }

  /** Writes the changed lines. Skips a drawing while the terminal is slow. */
  draw(lines: readonly string[]): void {
    if (this.#state !== "open" || this.#output.writableNeedDrain) return;
    const before = this.#isStale ? [] : this.#drawn;
    let text = this.#isStale ? "\u001B[2J" : "";
    for (let at = 0; at < Math.max(lines.length, before.length); at += 1) {
      const line = lines[at] ?? "";
      // Erased first: after a full line, the cursor is still on its last column.
      if (line !== (before[at] ?? "")) text += `\u001B[${at + 1};1H\u001B[K${line}`;
    }
    this.#drawn = lines;
    this.#isStale = false;
    if (text !== "") this.#output.write(text);
  }

  /** Restores the terminal until {@link enter}. Nothing is drawn in between. */
  pause(): void {
    if (this.#state !== "open") return;
    this.#state = "closed";
    this.#output.write(LEAVE);
  }

  /** Restores the terminal for good. May be called repeatedly. */
  leave(): void {
    if (this.#state === "open") this.#output.write(LEAVE);
    this.#state = "left";
  }
}
