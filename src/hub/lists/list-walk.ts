import type { LogRecord } from "../../log/event-log.ts";
import type { Lists, Step } from "../../protocol/index.ts";
import type { StepCache } from "./step-cache.ts";

/** Gives each record its step: the event with the lists before and behind it. Asked for one record after the other. */
export interface Steps {
  next(record: LogRecord): Step;
}

/** Follows the lists along the log, for one reader that is not at the head; the steps it shares with all others. */
export class ListWalk implements Steps {
  readonly #steps: StepCache;
  #lists: Lists;

  /** `lists`: as they are before the first record that will come. */
  constructor(steps: StepCache, lists: Lists) {
    this.#steps = steps;
    this.#lists = lists;
  }

  /** As they are behind the last record that came. */
  get lists(): Lists {
    return this.#lists;
  }

  /** See Steps. */
  next(record: LogRecord): Step {
    const step = this.#steps.take(record, this.#lists);
    this.#lists = step.after;
    return step;
  }
}

/** The steps of one batch, made once for all that are at the head. */
export class BatchSteps implements Steps {
  readonly #first: number;
  readonly #steps: readonly Step[];

  constructor(records: readonly LogRecord[], steps: readonly Step[]) {
    this.#first = records[0]?.seq ?? 0;
    this.#steps = steps;
  }

  /** See Steps; any record of the batch, in any order. */
  next({ seq }: LogRecord): Step {
    const step = this.#steps[seq - this.#first];
    if (!step) throw new RangeError(`event ${seq} is not of the batch that begins with ${this.#first}`);
    return step;
  }
}
