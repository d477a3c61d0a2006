import { MAX_GAP_MS, MAX_LATE_MS } from "./timeline.ts";

/** Number of increasing times of lines ahead that confirm a gap. */
const CONFIRMING_TIMES = 3;
/** The same at the end of the recording. */
const CONFIRMING_TIMES_AT_END = 2;
/**
 * This many lines ahead, without a line in time between them, confirm a gap too. More are not
 * stored.
 */
const MAX_LINES = 10_000;

/** A line whose event is too far after the latest one. */
export interface LineAhead {
  readonly line: string;
  readonly number: number;
  readonly at: number;
  /** Why it is skipped, unless it ends a gap. */
  readonly detail: string;
}

/** Collects lines too far ahead. A wrong time occurs alone; after a gap, all times are ahead. */
export class Jump {
  #lines: LineAhead[] = [];
  #latest = 0;
  #times = 0;
  /** Returns whether the lines prove a gap. */
  get isConfirmed(): boolean {
    return this.#times >= CONFIRMING_TIMES || this.#lines.length >= MAX_LINES;
  }

  /** Returns whether a gap is likely if no more lines follow. */
  get isLikely(): boolean {
    return this.#times >= CONFIRMING_TIMES_AT_END;
  }

  /** Adds a line. If it contradicts the previous ones, returns and removes those. */
  add(line: LineAhead): readonly LineAhead[] {
    const { at } = line;
    const agrees = at >= this.#latest - MAX_LATE_MS && at <= this.#latest + MAX_GAP_MS;
    const refuted = agrees ? [] : this.take();
    this.#lines.push(line);
    if (at > this.#latest) this.#times += 1;
    this.#latest = Math.max(this.#latest, at);
    return refuted;
  }

  take(): readonly LineAhead[] {
    const lines = this.#lines;
    this.#lines = [];
    this.#latest = 0;
    this.#times = 0;
    return lines;
  }
}
