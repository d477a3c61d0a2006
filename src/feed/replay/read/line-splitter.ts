/** The most characters (UTF-16 units) that a line of a recording may have. */
export const MAX_LINE_CHARS = 65_536;

/** Stands in a list of lines for one that was longer than allowed; its text is gone. */
export interface LongLine {
  /** Characters that the line had. */
  readonly chars: number;
}
export type Line = string | LongLine;

/**
 * Cuts a stream of text into lines at `\n`; a `\r` before it goes too. Holds at most one unfinished line of the allowed
 * length, so that a file without line ends costs no memory. `node:readline` has no such bound.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  #rest = "";
  /** Characters of an over-long line dropped so far; 0 while none is being dropped. */
  #dropped = 0;

  /** The lines that these bytes complete. */
  push(bytes: Uint8Array): Line[] {
    const parts = this.#decoder.decode(bytes, { stream: true }).split("\n");
    const rest = parts.pop() ?? "";
    const lines: Line[] = [];
    for (const part of parts) {
      lines.push(this.#complete(part));
      this.#rest = "";
      this.#dropped = 0;
    }
    this.#keep(rest);
    return lines;
  }

  /** What follows the last line end, as a line; nothing when the text ended with one. */
  finish(): Line[] {
    const lines = this.#rest === "" && this.#dropped === 0 ? [] : [this.#complete("")];
    this.#rest = "";
    this.#dropped = 0;
    return lines;
  }

  #complete(part: string): Line {
    const chars = this.#dropped + this.#rest.length + part.length;
    if (chars > MAX_LINE_CHARS) return { chars };
    const line = this.#rest + part;
    return line.endsWith("\r") ? line.slice(0, -1) : line;
  }

  #keep(rest: string): void {
    const chars = this.#dropped + this.#rest.length + rest.length;
    if (chars > MAX_LINE_CHARS) {
      this.#dropped = chars;
      this.#rest = "";
    } else {
      this.#rest += rest;
    }
  }
}
