import { BoundedMap } from "../../lib/bounded-map.ts";
import type { TailEvent } from "./event-lines.ts";

const MAX_FLARES = 10_000;

/** Remembers which finishes were printed: each channel of a flare reports its own. Bounded. */
export class FinishBook {
  readonly #ids = new BoundedMap<unknown, true>(MAX_FLARES);

  /** Whether a channel has already reported this finish; remembers it. */
  isRepeated({ name, data }: TailEvent): boolean {
    if (name !== "flare-finished") return false;
    const id = data.id ?? Object(data.flare).id;
    if (id === undefined) return false;
    if (this.#ids.has(id)) return true;
    this.#ids.set(id, true);
    return false;
  }
}
