import type { Entry, Position } from "./entry.ts";

/** The engine's answer to an append. */
export type AppendResult =
  | { readonly kind: "appended" }
  /** The log has another entry at that position or just before it: another node has written. */
  | { readonly kind: "fenced" }
  /** The log ends at `head`, before the expected position. */
  | { readonly kind: "truncated"; readonly head: Position };

/** An action that the node must take. Effects are performed in order. */
export type Effect =
  /**
   * Append the entry, and pass the result to `Member.appended`. Only one append is in flight at a
   * time. A repair appends again an entry that the log has lost.
   */
  | { readonly kind: "append"; readonly entry: Entry; readonly isRepair: boolean }
  /** Announce a commit to all nodes. */
  | { readonly kind: "commit"; readonly position: Position }
  /** Publish these committed entries to this node's own log. One of kind `base` starts an epoch. */
  | { readonly kind: "deliver"; readonly entries: readonly Entry[] }
  /** Read the log again, starting with this position's entry. */
  | { readonly kind: "reread"; readonly from: Position }
  /**
   * Load the state stored in the engine. Either the log no longer has the entries after this node's
   * state, or it contradicts that state, and the start of its latest epoch was trimmed.
   */
  | { readonly kind: "reload" }
  /** Start the source. All earlier entries were delivered. */
  | { readonly kind: "lead"; readonly term: number; readonly epoch: string; readonly isNewEpoch: boolean }
  /** Stop the source. */
  | { readonly kind: "follow" }
  /**
   * Report to the leader that the log's entries of this epoch contradict what this node delivered.
   */
  | { readonly kind: "fork"; readonly epoch: string };
