import type { Clock } from "../../base/lib/time/clock.ts";
import { isoTime } from "../../base/lib/time/iso-time.ts";
import type { EventBody, Freshness } from "../../base/protocol/index.ts";

interface FreshnessWatch {
  readonly freshness: () => Freshness;
  readonly clock: Clock;
  /** Called for each change of state after the start. */
  readonly onChange: (event: EventBody) => void;
}

/**
 * Checks `state` once a second and reports each change. Returns a function that stops the checks.
 */
export function watchFreshness({ freshness, clock, onChange }: FreshnessWatch): () => void {
  let last = freshness().state;
  return clock.every(1_000, () => {
    const { state, reason, observed_at } = freshness();
    if (state === last) return;
    last = state;
    onChange({
      name: "source-status",
      channel: "status",
      data: { state, reason },
      // Without data, the time of the check.
      observed_at: observed_at ?? isoTime(clock.now()),
    });
  });
}
