import type { Lists, Step } from "../../../base/protocol/index.ts";
import type { LogRecord } from "../../log/event-log.ts";
import type { StepCache } from "./step-cache.ts";

/** Returns each record's event with the lists before and after it. Call it in record order. */
export interface Steps {
  next(record: LogRecord): Step;
}

/** Replays the lists along the log for one reader behind the head. Readers share the steps. */
export class ListWalk implements Steps {
  readonly #steps: StepCache;
  #lists: Lists;

  /** @param lists The lists before the first record. */
  constructor(steps: StepCache, lists: Lists) {
    this.#steps = steps;
    this.#lists = lists;
  }

  /** The lists after the last record. */
  get lists(): Lists {
    return this.#lists;
  }

  next(record: LogRecord): Step {
    const step = this.#steps.take(record, this.#lists);
    this.#lists = step.after;
    return step;
  }
}

/** The steps of one batch, shared by all live sessions. */
export class BatchSteps implements Steps {
  readonly #first: number;
  readonly #steps: readonly Step[];

  constructor(records: readonly LogRecord[], steps: readonly Step[]) {
    this.#first = records[0]?.seq ?? 0;
    this.#steps = steps;
  }

  /** Accepts the records of the batch in any order. */
  next({ seq }: LogRecord): Step {
    const step = this.#steps[seq - this.#first];
    if (!step) throw new RangeError(`event ${seq} is not in the batch that starts with ${this.#first}`);
    return step;
  }
}
