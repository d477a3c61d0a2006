import type { Freshness, SourceInfo } from "../../base/protocol/index.ts";
import type { Head, ListHistory } from "../hub/index.ts";
import type { EventLog } from "../log/index.ts";
import type { ClusterState } from "../metrics/index.ts";
import type { EngineProgress, resumeOf } from "../persistence/restored-state.ts";
import type { ServiceReport } from "../source/feed.ts";
import type { Leader, PollCounts, PollOutcome, ReplicaSink, SnapshotSource } from "../source/index.ts";

/** What a gateway serves, opened. */
export type OpenSource = OpenSnapshots | OpenLeader | OpenCluster;

/** A cluster of gateways with one log. */
export type OpenCluster = Opened<"cluster", ClusteredLog>;
/** Another gateway, whose log is followed. */
export type OpenLeader = Opened<"leader", Leader>;
/** A source that is polled. */
export type OpenSnapshots = Opened<"snapshots", SnapshotSource>;

interface Opened<K, S> {
  readonly kind: K;
  readonly source: S;
  /** The published state from which the source resumes. */
  readonly resume?: ReturnType<typeof resumeOf>;
  /** Why the stored state cannot be resumed. */
  readonly problem?: string;
  /**
   * Returns the engine's progress. Call it between a poll's response and the next poll. Absent
   * without an engine.
   */
  readonly progress?: () => EngineProgress | undefined;
  /** Returns how much of the engine's warm-up was read, 0 to 1; `undefined` outside of it. */
  readonly warmedUp?: () => number | undefined;
  /** Returns whether a resumed market is old and still catches up. Absent without an engine. */
  readonly isCatchingUp?: () => boolean;
  /** Returns the market events that were unusable so far, by reason. Absent without an engine. */
  readonly rejected?: () => Readonly<Record<string, number>>;
  /** Returns the health of the services that the market uses. Absent if none is opened here. */
  readonly services?: () => readonly ServiceReport[];
  /**
   * Returns how many of an aggregator's reports came too late, by part. Absent without an engine.
   */
  readonly late?: () => Readonly<Record<string, number>>;
  /** Returns counts of an upstream's polls. Absent without an upstream. */
  readonly upstream?: () => PollCounts;
  /** Returns this node's part in a cluster. Absent without one. */
  readonly cluster?: () => ClusterState;
  /** Finishes the recording, or disconnects from the cluster. Call it after the last poll. */
  readonly close?: () => Promise<void>;
}

/** The log that the gateways of a cluster share. */
export interface ClusteredLog {
  readonly info: SourceInfo;
  /** Whether the servers answered recently. Otherwise this node's log may lag. */
  readonly isConnected: boolean;
  /** Whether this node has caught up with the log once, and has not left it since. */
  readonly hasCaughtUp: boolean;
  freshness(): Freshness;
  /** Takes part in the cluster until the signal aborts. Never rejects. */
  run(node: ClusterRun, signal: AbortSignal): Promise<void>;
}

/** What a node's gateway provides. */
export interface ClusterRun {
  readonly log: EventLog;
  readonly head: Head;
  readonly history: ListHistory;
  /** Writes into the gateway's log. */
  readonly sink: ReplicaSink;
  /** Receives each poll while this node leads: see runPoller. */
  readonly onPoll?: ((outcome: PollOutcome, workMs: number) => void) | undefined;
}
