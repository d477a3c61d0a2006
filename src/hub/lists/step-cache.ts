import { decodeTail } from "../../log/encode-tail.ts";
import type { LogRecord } from "../../log/event-log.ts";
import { advanceLists, type Lists, type Step } from "../../protocol/index.ts";

/** Steps that are held at most. Lists that are neighbours share most of what they hold: a thousand steps of the simulated market took 2 MB. */
export const MAX_STEPS = 4_096;

/** The steps that were made last, for all who go the same way along the log: a herd that comes back makes them once. */
export class StepCache {
  /** In the order in which they were made. */
  readonly #steps = new Map<number, Step>();

  /** Steps that are held. */
  get size(): number {
    return this.#steps.size;
  }

  /** The lists behind this seq, where its step is held. */
  behind(seq: number): Lists | undefined {
    return this.#steps.get(seq)?.after;
  }

  /** The step of the record; `before` are the lists before it, for when it has to be made. */
  take({ seq, tail }: LogRecord, before: Lists): Step {
    const known = this.#steps.get(seq);
    if (known) return known;
    const event = decodeTail(tail);
    const step: Step = { event, before, after: advanceLists(before, event) };
    this.put(seq, step);
    return step;
  }

  /** Takes one that was made elsewhere. */
  put(seq: number, step: Step): void {
    this.#steps.set(seq, step);
    const [oldest] = this.#steps.keys();
    if (this.#steps.size > MAX_STEPS && oldest !== undefined) this.#steps.delete(oldest);
  }
}
