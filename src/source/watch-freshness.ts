import type { Clock } from "../lib/time/clock.ts";
import type { EventBody, Freshness } from "../protocol/index.ts";

/** Returns the event for a source's state, at the time of its data, or at `nowMs` without data. */
function statusEvent({ state, reason, observed_at }: Freshness, nowMs: number): EventBody {
  return {
    name: "source-status",
    channel: "status",
    observed_at: observed_at ?? new Date(nowMs).toISOString(),
    data: { state, reason },
  };
}

interface FreshnessWatch {
  readonly freshness: () => Freshness;
  readonly clock: Clock;
  /** Called for each change of state after the start. */
  readonly onChange: (event: EventBody) => void;
}

/** Checks `state` once a second and reports each change. Returns a function that stops it. */
export function watchFreshness({ freshness, clock, onChange }: FreshnessWatch): () => void {
  let last = freshness().state;
  return clock.every(1_000, () => {
    const now = freshness();
    if (now.state === last) return;
    last = now.state;
    onChange(statusEvent(now, clock.now()));
  });
}
