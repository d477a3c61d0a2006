import type { HistoryReader, RecordQuery } from "../../history/index.ts";
import { MINUTE_MS } from "../../lib/time/time.ts";
import { Representation, versionOf } from "../rest/representation.ts";

interface Prepared {
  readonly toMs: number;
  readonly body: Promise<Representation>;
}

/**
 * Prepares track records, each at most once a minute of event time. A window ends a minute ago: by
 * then its flares are stored, so every process computes the same.
 */
export class RecordBodies {
  readonly #history: Pick<HistoryReader, "record">;
  /** By window and group. */
  readonly #prepared = new Map<string, Prepared>();

  constructor(history: Pick<HistoryReader, "record">) {
    this.#history = history;
  }

  bodyOf(query: Omit<RecordQuery, "toMs">, nowMs: number): Promise<Representation> {
    const toMs = (Math.floor(nowMs / MINUTE_MS) - 1) * MINUTE_MS;
    const key = `${query.window} ${query.group}`;
    const known = this.#prepared.get(key);
    if (known?.toMs === toMs) return known.body;
    const body = this.#prepare({ ...query, toMs }, known);
    this.#prepared.set(key, { toMs, body });
    // A failure is not cached.
    body.catch(() => this.#prepared.delete(key));
    return body;
  }

  async #prepare(query: RecordQuery, before: Prepared | undefined): Promise<Representation> {
    const bytes = Buffer.from(JSON.stringify(await this.#history.record(query)));
    const known = await before?.body.catch(() => undefined);
    return known?.bytes.equals(bytes) ? known : new Representation(bytes, versionOf(bytes));
  }
}
