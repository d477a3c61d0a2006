import { BoundedMap } from "../../lib/bounded-map.ts";
import type { TailEvent } from "./event-lines.ts";

const MAX_FLARES = 10_000;

/**
 * Remembers which finishes were printed, because each channel of a flare reports its finish.
 * Bounded.
 */
export class FinishBook {
  readonly #ids = new BoundedMap<unknown, true>(MAX_FLARES);

  /**
   * Returns true if the event is a finish that another event has already reported. Remembers it.
   */
  isRepeated({ name, data }: TailEvent): boolean {
    if (name !== "flare-finished") return false;
    const id = data.id ?? Object(data.flare).id;
    if (id === undefined) return false;
    if (this.#ids.has(id)) return true;
    this.#ids.set(id, true);
    return false;
  }
}
