import { level, type Metrics, total } from "../../gateway/metrics/index.ts";

/** A node's part in a cluster. */
export interface ClusterState {
  readonly isLeading: boolean;
  readonly term: number;
  /** Offset of the last delivered entry of the cluster's log. */
  readonly entries: number;
  /** Time since the cluster's servers last answered. */
  readonly silenceMs: number;
  /** Entries that this node wrote again because the servers had lost them. */
  readonly repairs: number;
  /** Epochs that this node has entered since it started from the stored state. */
  readonly epochs: number;
  /** Whether the log contradicts what this node delivered. It then waits for a new epoch. */
  readonly isForked: boolean;
  /** Whether the cluster's server answers, but rejects this node's commands. */
  readonly isRejected: boolean;
}

export function clusterMetrics(cluster: () => ClusterState): Metrics {
  return {
    flarewire_cluster_leader: level("1 while this node runs the cluster's source; 0 otherwise.", () =>
      Number(cluster().isLeading),
    ),
    flarewire_cluster_terms_total: total(
      "Highest term that this node has seen. Each attempt to lead begins a term.",
      () => cluster().term,
    ),
    flarewire_cluster_entries_total: total(
      "Entries of the cluster's log that this node has delivered; lower than at other nodes if it is behind.",
      () => cluster().entries,
    ),
    flarewire_cluster_repairs_total: total(
      "Entries that this node wrote to the cluster's log again, because its servers had lost them.",
      () => cluster().repairs,
    ),
    flarewire_cluster_epochs_total: total(
      "Epochs that began since this node joined the cluster; each resets the clients.",
      () => cluster().epochs,
    ),
    flarewire_cluster_forked: level(
      "1 while the cluster's log contradicts what this node delivered; 0 otherwise.",
      () => Number(cluster().isForked),
    ),
    flarewire_cluster_rejected: level(
      "1 while the cluster's server answers, but accepts no entry from this node; 0 otherwise.",
      () => Number(cluster().isRejected),
    ),
    flarewire_cluster_silence_seconds: level(
      "Time since the cluster's servers last answered.",
      () => cluster().silenceMs / 1_000,
    ),
  };
}
