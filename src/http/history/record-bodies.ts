import type { HistoryReader, RecordQuery } from "../../history/index.ts";
import { MINUTE_MS } from "../../lib/time/time.ts";
import { Representation, versionOf } from "../rest/representation.ts";

interface Prepared {
  readonly toMs: number;
  readonly body: Promise<Representation>;
  /** The same once it is there. */
  ready?: Representation;
}

/**
 * Prepares track records, each at most once a minute of event time, and not before the previous one
 * is ready: a fast replay plays a minute within milliseconds. A window ends a minute ago: by then
 * its flares are stored, so every process computes the same.
 */
export class RecordBodies {
  readonly #history: Pick<HistoryReader, "record">;
  /** By window and group. */
  readonly #prepared = new Map<string, Prepared>();

  constructor(history: Pick<HistoryReader, "record">) {
    this.#history = history;
  }

  /** Returns the record of this moment if it is prepared. */
  current(query: Omit<RecordQuery, "toMs">, nowMs: number): Representation | undefined {
    const known = this.#prepared.get(keyOf(query));
    return known?.toMs === endOf(nowMs) ? known.ready : undefined;
  }

  bodyOf(query: Omit<RecordQuery, "toMs">, nowMs: number): Promise<Representation> {
    const toMs = endOf(nowMs);
    const key = keyOf(query);
    const known = this.#prepared.get(key);
    if (known && (known.toMs === toMs || !known.ready)) return known.body;
    const body = this.#prepare({ ...query, toMs }, known);
    const prepared: Prepared = { toMs, body };
    this.#prepared.set(key, prepared);
    body.then(
      (ready) => {
        prepared.ready = ready;
      },
      // A failure is not cached.
      () => this.#prepared.delete(key),
    );
    return body;
  }

  async #prepare(query: RecordQuery, before: Prepared | undefined): Promise<Representation> {
    const bytes = Buffer.from(JSON.stringify(await this.#history.record(query)));
    const known = await before?.body.catch(() => undefined);
    return known?.bytes.equals(bytes) ? known : new Representation(bytes, versionOf(bytes));
  }
}

function endOf(nowMs: number): number {
  return (Math.floor(nowMs / MINUTE_MS) - 1) * MINUTE_MS;
}

function keyOf({ window, group }: Omit<RecordQuery, "toMs">): string {
  return `${window} ${group}`;
}
