import { randomBytes } from "node:crypto";
import { type Cursor, type Epoch, type Run, type Seq, toRun, toSeq } from "../../base/protocol/index.ts";

export interface RunStart {
  /**
   * Seq of the run's first event; 0 for the epoch's first run. If the log starts later within the
   * run, the seq of that start.
   */
  readonly from: number;
  /** `undefined` for the epoch's first run. */
  readonly run: Run | undefined;
}

/** Creates a run id: 8 random hexadecimal digits. */
export function randomRun(): Run {
  return toRun(randomBytes(4).toString("hex"));
}

/** The runs of an epoch, as far back as the log reaches, oldest first. */
export class Runs {
  #starts: readonly RunStart[];

  constructor(starts: readonly RunStart[] = [{ from: 0, run: undefined }]) {
    this.#starts = starts;
  }

  get starts(): readonly RunStart[] {
    return this.#starts;
  }

  /** Records the run of the newest event. */
  append(seq: number, run: Run | undefined): void {
    if (this.#starts.at(-1)?.run !== run) this.#starts = [...this.#starts, { from: seq, run }];
  }

  /** Returns the cursor after the event with this seq. */
  cursorAt(epoch: Epoch, seq: number): Cursor {
    const run = this.at(seq)?.run;
    return { epoch, seq: toSeq(seq), ...(run === undefined ? {} : { run }) };
  }

  /** False if the event at this cursor is known to be of another run than the cursor's. */
  mayHave({ seq, run }: { readonly seq: Seq; readonly run?: Run | undefined }): boolean {
    const at = this.at(seq);
    return at === undefined || at.run === run;
  }

  /** Returns the run's last seq, given the log's head; `undefined` if the run is unknown. */
  lastOf(run: Run | undefined, head: number): number | undefined {
    const at = this.#starts.findIndex((start) => start.run === run);
    if (at < 0) return undefined;
    const next = this.#starts[at + 1];
    return next ? next.from - 1 : head;
  }

  /** Drops the runs that ended before this seq. */
  dropBefore(seq: number): void {
    const first = this.#starts.findLastIndex(({ from }) => from <= seq);
    if (first > 0) this.#starts = this.#starts.slice(first);
  }

  /** Returns the run of the event with this seq; `undefined` if the run is no longer known. */
  at(seq: number): RunStart | undefined {
    return this.#starts.findLast(({ from }) => from <= seq);
  }
}
