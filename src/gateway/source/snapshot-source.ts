import type { Snapshot } from "../../base/model/index.ts";
import type { Freshness, SourceInfo } from "../../base/protocol/index.ts";

/** One observation of the market. */
export interface Poll {
  /** Event time in ms since 1970 UTC. Decreases only if an upstream's market started over. */
  readonly observedAtMs: number;
  /** The state at that time. Unchanged parts are the same objects as before. */
  readonly snapshot: Snapshot;
}

/** A source of snapshots. It sets the pace: a poll resolves when there may be something new. */
export interface SnapshotSource {
  readonly info: SourceInfo;
  /**
   * Waits for the next observation; `undefined` if the source has ended. Rejects with the signal's
   * reason, or FlarewireError if this poll failed and may be repeated. A source that recovers by
   * itself reports its trouble in {@link freshness}.
   */
  poll(signal: AbortSignal): Promise<Poll | undefined>;
  freshness(): Freshness;
  /** Called when the sockets have the events of the latest poll, if there were any. */
  published?(): void;
}
