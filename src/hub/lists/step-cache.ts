import { decodeTail } from "../../log/encode-tail.ts";
import type { LogRecord } from "../../log/event-log.ts";
import { advanceLists, type Lists, type Step } from "../../protocol/index.ts";

/**
 * Maximum number of cached steps. Neighboring lists share most items: a thousand steps of the
 * simulated market took 2 MB.
 */
export const MAX_STEPS = 4_096;

/** Caches recent steps, so that many clients resuming at once compute each step only once. */
export class StepCache {
  /** In insertion order. */
  readonly #steps = new Map<number, Step>();

  get size(): number {
    return this.#steps.size;
  }

  /** Returns the lists after this seq, if its step is cached. */
  listsAfter(seq: number): Lists | undefined {
    return this.#steps.get(seq)?.after;
  }

  /** Returns the record's step, computing it from the lists `before` it if needed. */
  take({ seq, tail }: LogRecord, before: Lists): Step {
    const cached = this.#steps.get(seq);
    if (cached) return cached;
    const event = decodeTail(tail);
    const step: Step = { event, before, after: advanceLists(before, event) };
    this.put(seq, step);
    return step;
  }

  /** Adds a step computed elsewhere. */
  put(seq: number, step: Step): void {
    this.#steps.set(seq, step);
    const [oldest] = this.#steps.keys();
    if (this.#steps.size > MAX_STEPS && oldest !== undefined) this.#steps.delete(oldest);
  }
}
