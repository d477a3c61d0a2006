import { type Stamp, StampedCache } from "../../../base/lib/stamped-cache.ts";
import { MINUTE_MS, startOf } from "../../../base/lib/time/time.ts";
import { type Representation, represent } from "../../../gateway/http/index.ts";
import type { HistoryReader, RecordQuery } from "../index.ts";

/** Fifteen windows and groups of about 5 kB. */
const MAX_BYTES = 2 ** 20;

/**
 * Prepares track records, each at most once a minute of event time. While one is computed, the
 * windows do not move, because a fast replay plays a minute within milliseconds. A window ends at
 * least a minute before the head: its flares are stored by now, so every process computes the same
 * record.
 */
export class RecordBodies {
  readonly #head: { readonly observedAtMs: number };
  readonly #history: Pick<HistoryReader, "record">;
  readonly #bodies = new StampedCache<Representation>(MAX_BYTES, ({ bytes }) => 2 * bytes.length);
  #computing = 0;
  #toMs = 0;

  constructor(head: { readonly observedAtMs: number }, history: Pick<HistoryReader, "record">) {
    this.#head = head;
    this.#history = history;
  }

  /** Returns the end of the windows, which does not move while a record is computed. */
  readonly now: Stamp = () => {
    if (this.#computing === 0) this.#toMs = startOf(MINUTE_MS, this.#head.observedAtMs) - MINUTE_MS;
    return `${this.#toMs}`;
  };

  read(query: Omit<RecordQuery, "toMs">): Promise<Representation> {
    const { window, group } = query;
    return this.#bodies.read(`${window} ${group}`, this.now, async () => {
      this.#computing += 1;
      try {
        return represent(JSON.stringify(await this.#history.record({ ...query, toMs: this.#toMs })));
      } finally {
        this.#computing -= 1;
      }
    });
  }
}
