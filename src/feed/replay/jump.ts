import { MAX_GAP_MS, MAX_LATE_MS } from "./timeline.ts";

/** Different times that lines ahead must have to confirm each other, and at the end of the recording. */
const CONFIRMING_TIMES = 3;
const CONFIRMING_TIMES_AT_END = 2;
/** So many lines without one that is in time confirm each other too; more are not held. */
const MAX_LINES = 10_000;

/** A line whose event lies too far after the latest one. */
export interface LineAhead {
  readonly line: string;
  readonly number: number;
  readonly at: number;
  /** What is wrong with it, if it is not the end of a gap. */
  readonly detail: string;
}

/**
 * Lines that lie too far ahead. One with a wrong time stands alone, or among lines of the same wrong time; after a gap the lines go on
 * from the first one.
 */
export class Jump {
  #lines: LineAhead[] = [];
  #latest = 0;
  #times = 0;

  /** True where the lines show that they stand behind a gap. */
  get isConfirmed(): boolean {
    return this.#times >= CONFIRMING_TIMES || this.#lines.length >= MAX_LINES;
  }

  /** True where nothing speaks against that, and no more lines follow. */
  get isLikely(): boolean {
    return this.#times >= CONFIRMING_TIMES_AT_END;
  }

  /** Adds a line; returns those before it where they do not agree with it, so that it is the first one again. */
  add(line: LineAhead): readonly LineAhead[] {
    const { at } = line;
    const agrees = at >= this.#latest - MAX_LATE_MS && at <= this.#latest + MAX_GAP_MS;
    const refuted = agrees ? [] : this.take();
    this.#lines.push(line);
    if (at > this.#latest) this.#times += 1;
    this.#latest = Math.max(this.#latest, at);
    return refuted;
  }

  /** The lines, which are no longer held. */
  take(): readonly LineAhead[] {
    const lines = this.#lines;
    this.#lines = [];
    this.#latest = 0;
    this.#times = 0;
    return lines;
  }
}
