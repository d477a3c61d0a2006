import type { Entry, Position } from "./entry.ts";

/** The engine's answer to an append. */
export type AppendResult =
  | { readonly kind: "appended" }
  | { readonly kind: "fenced" }
  /** The log ends at `head`, before the expected position. */
  | { readonly kind: "truncated"; readonly head: Position };

/** What the node must do, in this order. */
export type Effect =
  /** Append, and report the result to `appended`. Never two at a time. A repair was delivered. */
  | { readonly kind: "append"; readonly entry: Entry; readonly isRepair: boolean }
  /** Announce a commit to all nodes. */
  | { readonly kind: "commit"; readonly position: Position }
  /** Publish these committed entries to this node's own log. A base starts an epoch. */
  | { readonly kind: "deliver"; readonly entries: readonly Entry[] }
  /** Read the log again, from this position's entry on. */
  | { readonly kind: "reread"; readonly from: Position }
  /** Load the state stored in the engine, because the log no longer continues this node's own. */
  | { readonly kind: "reload" }
  /** Start the source; all entries before were delivered. */
  | { readonly kind: "lead"; readonly term: number; readonly epoch: string; readonly isNewEpoch: boolean }
  /** Stop the source. */
  | { readonly kind: "follow" }
  /** Tell the leader that the log's entries of this epoch contradict what this node delivered. */
  | { readonly kind: "fork"; readonly epoch: string };
