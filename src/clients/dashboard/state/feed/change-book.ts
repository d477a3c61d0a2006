import { RecentKeys } from "../../../../base/lib/recent-keys.ts";
import type { EventMessage } from "../../../sdk/index.ts";

const MAX_FLARES = 10_000;

/**
 * Finds the events that report a change again: each channel of a flare reports its changes and its
 * end. Bounded.
 */
export class ChangeBook {
  readonly #ended = new RecentKeys<string>(MAX_FLARES);

  /** Whether another event reports the same change. Remembers ends, so pass each event once. */
  isRepeat(event: EventMessage, seesPro: boolean): boolean {
    // Every flare of the free list is in that of `flares.pro`, too.
    if (seesPro && event.channel === "flares.free" && !isOfFreeOnly(event)) return true;
    return event.name === "flare-finished" && this.#ended.isRepeat(event.data.flare.id);
  }
}

/** Whether a flare enters or leaves the free list while it runs. */
function isOfFreeOnly({ name, data }: EventMessage): boolean {
  return name === "flare-started" || (name === "flare-withdrawn" && data.cause === "canary");
}
