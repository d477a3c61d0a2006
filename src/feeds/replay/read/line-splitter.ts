/** Maximum length of a recording's line in characters (UTF-16 units). */
export const MAX_LINE_CHARS = 65_536;

/** Replaces a line that was too long. */
interface LongLine {
  readonly chars: number;
}
export type Line = string | LongLine;

/** Splits text at `\n` or `\r\n`. Buffers at most one line of maximum length, unlike readline. */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  #rest = "";
  /** Dropped characters of a line that is too long; 0 if none is being dropped. */
  #dropped = 0;

  /** Returns the lines that these bytes complete. */
  push(bytes: Uint8Array): Line[] {
    const parts = this.#decoder.decode(bytes, { stream: true }).split("\n");
    const rest = parts.pop() ?? "";
    const lines: Line[] = [];
    for (const part of parts) {
      lines.push(this.#complete(part));
      this.#rest = "";
      this.#dropped = 0;
    }
    this.#buffer(rest);
    return lines;
  }

  /** Returns the text after the last line end as a line, if any. */
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

  #buffer(rest: string): void {
    const chars = this.#dropped + this.#rest.length + rest.length;
    if (chars > MAX_LINE_CHARS) {
      this.#dropped = chars;
      this.#rest = "";
    } else {
      this.#rest += rest;
    }
  }
}
