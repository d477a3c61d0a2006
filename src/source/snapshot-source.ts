import type { Snapshot } from "../model/index.ts";
import type { Freshness, SourceInfo } from "../protocol/index.ts";

/** One observation of the market. */
export interface Poll {
  /** Event time of the observation, in milliseconds since 1970 UTC. Goes back only where another service is polled that began its market anew. */
  readonly observedAtMs: number;
  /** The state at that time. Parts that did not change are the same objects as in the poll before, so that comparing is cheap. */
  readonly snapshot: Snapshot;
}

/** Where snapshots come from. The source sets the pace: it answers when there may be something new to see. */
export interface SnapshotSource {
  readonly info: SourceInfo;
  /**
   * Waits for the next observation. `undefined`: the source has ended and will say no more. Rejects with the signal's reason
   * when it aborts; with FlarewireError when this poll failed, after which the caller may poll again.
   * A source that can heal by itself waits and retries inside, and shows its trouble in {@link freshness}.
   */
  poll(signal: AbortSignal): Promise<Poll | undefined>;
  /** How the source fares at this moment of wall-clock time. */
  freshness(): Freshness;
}
