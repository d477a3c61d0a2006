import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import { advanceLists, type Lists, type Step } from "../../../base/protocol/index.ts";
import type { LogRecord } from "../../log/event-log.ts";
import { decodeBody } from "../../log/event-log.ts";

/** Maximum cached steps, which share most items: a thousand took 2 MB. */
export const MAX_STEPS = 4_096;

/** Caches recent steps, so that many clients resuming at once compute each step only once. */
export class StepCache {
  readonly #steps = new BoundedMap<number, Step>(MAX_STEPS);

  /** Returns the lists after this seq, if its step is cached. */
  listsAfter(seq: number): Lists | undefined {
    return this.#steps.get(seq)?.after;
  }

  /** Returns the record's step, computing it from the lists `before` it if needed. */
  take({ seq, encoded }: LogRecord, before: Lists): Step {
    return this.#steps.ensure(seq, () => {
      const event = decodeBody(encoded);
      return { event, before, after: advanceLists(before, event) };
    });
  }

  /** Adds a step computed elsewhere. */
  put(seq: number, step: Step): void {
    this.#steps.set(seq, step);
  }
}
