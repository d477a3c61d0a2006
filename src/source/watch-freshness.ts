import type { Clock } from "../lib/time/clock.ts";
import type { EventBody, Freshness } from "../protocol/index.ts";

/** The event that tells of a source's state. Before any data was seen `observed_at` is `nowMs`, wall-clock time, for want of event time. */
export function statusEvent({ state, reason, observed_at }: Freshness, nowMs: number): EventBody {
  return {
    name: "source-status",
    channel: "status",
    observed_at: observed_at ?? new Date(nowMs).toISOString(),
    data: { state, reason },
  };
}

/** Options of {@link watchFreshness}. */
export interface FreshnessWatch {
  readonly freshness: () => Freshness;
  readonly clock: Clock;
  /** Told of each change of state; the state at the start is no change. */
  readonly onChange: (event: EventBody) => void;
}

/** Looks at the freshness every second of wall-clock time and reports when its `state` has changed; another reason for the same state is no change. Returns how to stop it. */
export function watchFreshness({ freshness, clock, onChange }: FreshnessWatch): () => void {
  let last = freshness().state;
  return clock.every(1_000, () => {
    const now = freshness();
    if (now.state === last) return;
    last = now.state;
    onChange(statusEvent(now, clock.now()));
  });
}
