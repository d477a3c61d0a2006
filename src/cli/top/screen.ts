import type { Output } from "../terminal/terminal.ts";

/** The alternate screen, lines that end at the margin, no cursor; empty. */
const ENTER = "\u001B[?1049h\u001B[?7l\u001B[?25l\u001B[2J";
const LEAVE = "\u001B[?7h\u001B[?25h\u001B[?1049l";

/** A whole terminal that is drawn on, beside what stood there, which comes back when it is left. */
export class Screen {
  readonly #output: Output;
  #drawn: readonly string[] = [];
  #state: "new" | "open" | "away" | "left" = "new";
  #void = true;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Columns and lines that there are. */
  get size(): { readonly width: number; readonly height: number } {
    // A terminal that does not know its size says 0.
    return { width: this.#output.columns || 80, height: this.#output.rows || 24 };
  }

  enter(): void {
    if (this.#state !== "new") return;
    this.#state = "open";
    this.#output.write(ENTER);
  }

  /** What was drawn is no longer there: the next drawing begins anew. */
  invalidate(): void {
    this.#void = true;
  }

  /** Writes the lines that changed, at once or, while the terminal is behind, not at all: the next drawing is newer. */
  draw(lines: readonly string[]): void {
    if (this.#state !== "open" || this.#output.writableNeedDrain) return;
    const before = this.#void ? [] : this.#drawn;
    let text = this.#void ? "\u001B[2J" : "";
    for (let at = 0; at < Math.max(lines.length, before.length); at += 1) {
      const line = lines[at] ?? "";
      if (line !== (before[at] ?? "")) text += `\u001B[${at + 1};1H${line}\u001B[K`;
    }
    this.#drawn = lines;
    this.#void = false;
    if (text !== "") this.#output.write(text);
  }

  /** Gives the terminal back for a while; {@link resume} takes it again. Nothing is drawn in between. */
  pause(): void {
    if (this.#state !== "open") return;
    this.#state = "away";
    this.#output.write(LEAVE);
  }

  /** After {@link pause}: the next drawing begins anew. */
  resume(): void {
    if (this.#state !== "away") return;
    this.#state = "open";
    this.#void = true;
    this.#output.write(ENTER);
  }

  /** Gives the terminal back as it was. Once is enough; again does nothing. */
  leave(): void {
    if (this.#state === "open") this.#output.write(LEAVE);
    this.#state = "left";
  }
}
