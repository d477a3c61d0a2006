import { BoundedMap } from "../../lib/bounded-map.ts";
import type { TailEvent } from "./event-lines.ts";
import { asRecord } from "./symbol-book.ts";

const MAX_REASONS = 10_000;

/**
 * Remembers the last reason of each flare and channel, so that an update repeats no part of it.
 * Bounded.
 */
export class ReasonBook {
  readonly #parts = new BoundedMap<string, readonly string[]>(MAX_REASONS);

  /**
   * Returns an update with the changed parts of its reason only, `undefined` if nothing is left,
   * and any other event as it is. If the reason has more or fewer parts, it stays whole.
   */
  shorten(event: TailEvent): TailEvent | undefined {
    const { name, channel, data } = event;
    const why = asRecord(data.why);
    const id = data.id ?? asRecord(data.flare)?.id;
    if (typeof why?.text !== "string" || typeof id !== "string") return event;
    const key = `${channel} ${id}`;
    const before = this.#parts.get(key);
    const parts = why.text.split(/[,;] /);
    this.#parts.set(key, parts);
    if (name !== "flare-updated" || before?.length !== parts.length) return event;
    const text = parts.filter((part) => !before.includes(part)).join(", ");
    if (text === "" && Object.keys(asRecord(data.set) ?? {}).length === 0) return undefined;
    return { ...event, data: { ...data, why: { ...why, text } } };
  }
}
