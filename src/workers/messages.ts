import type { Channel, Cursor, FlarewireError, Freshness, SourceInfo } from "../base/protocol/index.ts";
import type { HistoryRequest } from "../extensions/history/index.ts";
import type { SpentRate } from "../gateway/http/index.ts";
import type { EndReason, Key } from "../gateway/keys/index.ts";
import type { LogRecord, RunStart } from "../gateway/log/index.ts";

/*
 * Messages between primary and worker over Node's channel for child processes, which keeps their
 * order. Both run the same program, so a message is trusted to have the form of its type.
 */

/** The primary's report on its source. */
export interface SourceReport {
  readonly info: SourceInfo;
  readonly freshness: Freshness;
}

/** Ends a snapshot: the position at which a worker starts, and the lists there. */
export interface SnapshotEnd {
  readonly cursor: Cursor;
  readonly positions: Readonly<Partial<Record<Channel, number>>>;
  readonly observedAtMs: number;
  /**
   * The lists at the cursor, encoded by `encodeLists`; `undefined` until the source has returned
   * its first snapshot.
   */
  readonly lists: Uint8Array | undefined;
  readonly runs: readonly RunStart[];
  readonly oldest: number;
  readonly oldestLasting: number;
}

/** The primary's log and lists, for a worker that starts. */
export type SnapshotMessage =
  | { readonly type: "records"; readonly records: readonly LogRecord[] }
  | { readonly type: "checkpoint"; readonly seq: number; readonly bytes: Uint8Array }
  | { readonly type: "snapshot-end"; readonly end: SnapshotEnd };

/** Changes in the primary's log. */
export type LogUpdate =
  | { readonly type: "batch"; readonly records: readonly LogRecord[]; readonly observedAtMs: number }
  /** A new epoch starts, or the first snapshot arrives. */
  | {
      readonly type: "begin";
      readonly cursor: Cursor;
      readonly positions: Readonly<Partial<Record<Channel, number>>>;
      readonly observedAtMs: number;
      readonly lists: Uint8Array;
    };

/** Requests that only the primary can answer. */
export type Question =
  | { readonly kind: "issue"; readonly keyId: string }
  | { readonly kind: "holder"; readonly ticket: string }
  | { readonly kind: "spend"; readonly ticket: string }
  | { readonly kind: "history"; readonly request: HistoryRequest }
  /** Notes that a key was used; the answer is empty. */
  | { readonly kind: "used"; readonly keyId: string }
  | { readonly kind: "metrics" };

/** A result, or the FlarewireError that replaces it. */
export type Answer =
  | { readonly value: unknown }
  | { readonly error: Pick<FlarewireError, "code" | "message" | "bound"> };

/** Messages from the primary to a worker. */
export type ToWorker =
  | {
      readonly type: "start";
      readonly worker: number;
      /** The primary's Config. */
      readonly config: unknown;
      readonly keys: readonly Key[] | undefined;
      /** Requests that keys have spent at the other workers. */
      readonly spent: readonly SpentRate[];
      readonly report: SourceReport;
    }
  | SnapshotMessage
  | LogUpdate
  /** Sent once per second. The worker replies with `alive`. */
  | { readonly type: "source"; readonly report: SourceReport }
  /** Sent with a socket. */
  | { readonly type: "connection" }
  | { readonly type: "keys"; readonly keys: readonly Key[] }
  /** A key was removed or downgraded. */
  | { readonly type: "ended"; readonly keyId: string; readonly reason: EndReason }
  /**
   * A worker's claim: see `claim` in {@link ToPrimary}. All workers receive all claims in the same
   * order.
   */
  | { readonly type: "claimed"; readonly client: string; readonly isOwn: boolean }
  /** Requests that a key made at other workers. */
  | { readonly type: "counted"; readonly keyId: string; readonly requests: number }
  | { readonly type: "measure"; readonly id: number }
  | { readonly type: "answer"; readonly id: number; readonly answer: Answer }
  | { readonly type: "drain" };

export type ToPrimary =
  | { readonly type: "ready" }
  /**
   * The worker received a signal and disconnects its clients. It gets connections only if no other
   * worker is ready.
   */
  | { readonly type: "leaving" }
  /** The worker has the last connection and can take another. */
  | { readonly type: "taken" }
  | {
      readonly type: "alive";
      /** Cursor of its head; `undefined` while it receives the log. */
      readonly cursor: Cursor | undefined;
      readonly hasSnapshot: boolean;
      readonly connections: number;
    }
  | { readonly type: "ask"; readonly id: number; readonly question: Question }
  /** A client connected to the worker; its older connections end. */
  | { readonly type: "claim"; readonly client: string }
  | { readonly type: "counted"; readonly keyId: string; readonly requests: number }
  | { readonly type: "measured"; readonly id: number; readonly metrics: unknown };
