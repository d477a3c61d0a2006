import type { EventBody, Freshness, SourceInfo } from "../../base/protocol/index.ts";
import type { Head, Hub } from "../hub/index.ts";
import type { FollowerLog } from "../log/index.ts";
import type { Metrics } from "../metrics/metric-table.ts";
import type { Persistence } from "../persistence/persistence.ts";
import type { EngineProgress, RestoredState } from "../persistence/restored-state.ts";
import type { Feed, ServiceReport, StageLag } from "./feed.ts";
import type { PollOutcome } from "./poller.ts";
import type { SnapshotSource } from "./snapshot-source.ts";

/** Where a gateway's events come from: snapshots to compare, or another gateway's log to copy. */
export type OpenSource = OpenSnapshots | OpenFollower;

interface Opened<K, S> {
  readonly kind: K;
  readonly source: S;
  /** The published state from which the source resumes. */
  readonly resume?: Resume;
  /** Returns the health of the services that the source uses. Absent if none is opened here. */
  readonly services?: () => readonly ServiceReport[];
  /** Returns the market events that were unusable so far, by reason. Absent without an engine. */
  readonly rejected?: () => Readonly<Record<string, number>>;
  /**
   * Returns how many of an aggregator's reports came too late, by part. Absent without an engine.
   */
  readonly late?: () => Readonly<Record<string, number>>;
  /** Returns {@link Feed.replaced}. */
  readonly replaced?: () => Readonly<Record<string, number>>;
  /** Returns how far the head lags behind a live market, by stage. Absent for other markets. */
  readonly lag?: () => readonly StageLag[];
  /** Further metrics of the source. Default: none. */
  readonly metrics?: Metrics;
  /** Finishes what the source wrote, or disconnects it. Called after the last event. */
  readonly close?: () => Promise<void>;
}

/** A source that is polled. */
export interface OpenSnapshots extends Opened<"snapshots", SnapshotSource> {
  /** Why the stored state cannot be resumed. */
  readonly problem?: string;
  /**
   * Returns the engine's progress, or `undefined` if it is not to be stored now. Call it between a
   * poll's response and the next poll. Absent without an engine.
   */
  readonly progress?: () => EngineProgress | undefined;
  /** Returns how much of the engine's warm-up was read, 0 to 1; `undefined` outside of it. */
  readonly warmedUp?: () => number | undefined;
  /** Returns whether a resumed market is old and still catches up. Absent without an engine. */
  readonly isCatchingUp?: () => boolean;
}

/** Another gateway's log, or the log of a cluster, which this gateway copies. */
export interface OpenFollower extends Opened<"follower", Follower> {
  /**
   * How long clients may wait for events that they are ahead of, in milliseconds: see HubLimits.
   */
  readonly aheadWaitMs: number;
  /** Whether the log may have events that this gateway has not read: see HubOptions. */
  mayLackEvents(): boolean;
  /** Whether `/readyz` succeeds with stale data. Default: no. */
  readonly isStaleReady?: () => boolean;
}

export interface Follower {
  readonly info: SourceInfo;
  /** Whether this gateway receives events now. While it does not, no other may copy it. */
  readonly isConnected: boolean;
  freshness(): Freshness;
  /** Copies the log until the signal aborts. Never rejects. */
  run(run: FollowerRun, signal: AbortSignal): Promise<void>;
}

/** Where a follower writes. */
export interface FollowerRun {
  readonly log: FollowerLog;
  readonly head: Head;
  readonly history: Hub["history"];
  readonly persistence: Pick<Persistence, "onPublished" | "onReset">;
  readonly onPublished: (events: readonly EventBody[]) => void;
  /** Receives each poll of a source that this gateway runs itself: see runPoller. */
  readonly onPoll?: ((outcome: PollOutcome, workMs: number) => void) | undefined;
}

type Resume = ReturnType<typeof resumeOf>;

/** Returns the point to resume from. Polls up to `afterMs` repeat what was published. */
export function resumeOf({ known, observedAtMs }: RestoredState, afterMs: number) {
  return { snapshot: known.lists.snapshot, observedAtMs, afterMs, known };
}
