import { randomBytes } from "node:crypto";
import { type Cursor, type Epoch, type Run, type Seq, toRun, toSeq } from "../../protocol/index.ts";

/** Where a run begins in its epoch. */
export interface RunStart {
  /** Seq of its first event; 0 for the epoch's first run. Where a log begins inside a run, the seq at which it begins. */
  readonly from: number;
  /** `undefined`: the epoch's first run. */
  readonly run: Run | undefined;
}

/** A new run: 8 hexadecimal digits by chance, so that no two continuations of a log share a name. */
export function randomRun(): Run {
  return toRun(randomBytes(4).toString("hex"));
}

/** The runs of an epoch as far as a log reaches back, oldest first. */
export class Runs {
  #starts: readonly RunStart[];

  constructor(starts: readonly RunStart[] = [{ from: 0, run: undefined }]) {
    this.#starts = starts;
  }

  get starts(): readonly RunStart[] {
    return this.#starts;
  }

  /** The event of this seq, the newest one, is of this run. True where the run begins with it. */
  append(seq: number, run: Run | undefined): boolean {
    if (this.#starts.at(-1)?.run === run) return false;
    this.#starts = [...this.#starts, { from: seq, run }];
    return true;
  }

  /** The cursor of the place behind the event of this seq. */
  cursorAt(epoch: Epoch, seq: number): Cursor {
    const run = this.at(seq)?.run;
    return { epoch, seq: toSeq(seq), ...(run === undefined ? {} : { run }) };
  }

  /** False where the event at the cursor's place is known to be of another run. */
  mayHave({ seq, run }: { readonly seq: Seq; readonly run?: Run | undefined }): boolean {
    const at = this.at(seq);
    return at === undefined || at.run === run;
  }

  /** Seq of the last event of this run, in a log with this head; `undefined`: nothing is known of it. */
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

  /** The run of the event of this seq; `undefined` where nothing is known of it any more. */
  at(seq: number): RunStart | undefined {
    return this.#starts.findLast(({ from }) => from <= seq);
  }
}
