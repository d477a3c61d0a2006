import { RecentKeys } from "../../../base/lib/recent-keys.ts";
import type { TailEvent } from "./event-lines.ts";

const MAX_FLARES = 10_000;

/**
 * Remembers which finishes were printed, because each channel of a flare reports its finish.
 * Bounded.
 */
export class FinishBook {
  readonly #ids = new RecentKeys<unknown>(MAX_FLARES);

  /**
   * Returns true if the event is a finish that another event has already reported. Remembers it.
   */
  isRepeated({ name, data }: TailEvent): boolean {
    if (name !== "flare-finished") return false;
    const id = data.id ?? Object(data.flare).id;
    return id !== undefined && this.#ids.isRepeat(id);
  }
}
