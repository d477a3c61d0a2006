import type { SpentRate } from "../http/index.ts";
import type { Key } from "../keys/index.ts";
import type { LogRecord, RunStart } from "../log/index.ts";
import type {
  Channel,
  CloseReason,
  Cursor,
  ErrorCode,
  Freshness,
  Run,
  SourceInfo,
} from "../protocol/index.ts";

/*
 * What the primary process and a worker say to each other, over the line that Node makes between a process and its child. Both are the same
 * program, so nothing is checked but the type. Messages arrive in the order in which they were sent, connections among them.
 */

/** How the source fares, by the primary's word. */
export interface SourceNews {
  readonly info: SourceInfo;
  readonly freshness: Freshness;
}

/** The place that a worker begins at. */
export interface FillEnd {
  readonly cursor: Cursor;
  readonly positions: Readonly<Partial<Record<Channel, number>>>;
  readonly observedAtMs: number;
  /** The lists at the cursor, as `encodeLists` makes them; `undefined`: there is no snapshot yet. */
  readonly lists: Uint8Array | undefined;
  /** See EventLog. */
  readonly runs: readonly RunStart[];
  readonly oldest: number;
  readonly oldestLasting: number;
}

/** The primary's log and lists, for a worker that begins. */
export type FillMessage =
  | { readonly type: "records"; readonly records: readonly LogRecord[] }
  | { readonly type: "place"; readonly seq: number; readonly bytes: Uint8Array }
  | { readonly type: "filled"; readonly end: FillEnd };

/** What happens in the primary's log. */
export type FeedMessage =
  | {
      /** Records as few values, which cost each worker less to read than as many objects; name and channel stand in the tails. */
      readonly type: "batch";
      /** Seq of the first. */
      readonly first: number;
      readonly emittedAtMs: readonly number[];
      /** Of all of them: a batch is appended in one run. */
      readonly run: Run | undefined;
      /** All tails, one behind the other, and where each ends. */
      readonly tails: Buffer;
      readonly ends: readonly number[];
      readonly observedAtMs: number;
    }
  /** Another history begins, or the first snapshot is there. */
  | {
      readonly type: "begin";
      readonly cursor: Cursor;
      readonly positions: Readonly<Partial<Record<Channel, number>>>;
      readonly observedAtMs: number;
      readonly lists: Uint8Array;
    };

/** What a worker cannot know by itself. Connections and waits go by a number that the worker gives them. */
export type Question =
  | {
      readonly kind: "seat";
      readonly place: number;
      readonly address: string;
      readonly name: string | undefined;
      readonly key: Holder | undefined;
      readonly ticket: string | undefined;
    }
  | {
      readonly kind: "sit";
      readonly place: number;
      readonly address: string;
      readonly key: Holder | undefined;
    }
  | { readonly kind: "issue"; readonly keyId: string }
  | { readonly kind: "holder"; readonly ticket: string }
  | { readonly kind: "metrics" };

/** A key, as far as places go by it. */
export interface Holder {
  readonly id: string;
  readonly connections: number;
  /** Of how many ends of keys the worker had heard: one that came after may be this key's. */
  readonly ends: number;
}

/** An answer, or the FlarewireError in its place. */
export type Answer =
  | { readonly value: unknown }
  | {
      readonly error: { readonly code: ErrorCode; readonly message: string; readonly bound?: string };
    };

/** From the primary to a worker. */
export type ToWorker =
  | {
      readonly type: "start";
      readonly worker: number;
      /** The primary's Config. */
      readonly config: unknown;
      readonly keys: readonly Key[] | undefined;
      /** As in `ended`, of the last one. */
      readonly ends: number;
      /** What keys have used up at the others. */
      readonly spent: readonly SpentRate[];
      readonly news: SourceNews;
    }
  | FillMessage
  | FeedMessage
  /** Once a second; to be answered with `alive`. */
  | { readonly type: "news"; readonly news: SourceNews }
  /** With a socket. */
  | { readonly type: "connection" }
  | { readonly type: "end"; readonly place: number; readonly reason: CloseReason }
  | { readonly type: "cut"; readonly place: number }
  | { readonly type: "keys"; readonly keys: readonly Key[] }
  /** A key does not count any more (`isGone`), or for less; the `ends`-th of such ends. */
  | { readonly type: "ended"; readonly keyId: string; readonly isGone: boolean; readonly ends: number }
  /** Requests that a key made at other workers. */
  | { readonly type: "counted"; readonly keyId: string; readonly requests: number }
  | { readonly type: "measure"; readonly id: number }
  | { readonly type: "answer"; readonly id: number; readonly answer: Answer }
  | { readonly type: "drain" };

/** From a worker to the primary. */
export type ToPrimary =
  | { readonly type: "ready" }
  /** It was told to end by somebody else, and sends its clients away: what comes is for the others. */
  | { readonly type: "leaving" }
  /** The connection that came last is in hand: another may come. */
  | { readonly type: "taken" }
  | {
      readonly type: "alive";
      /** Of its head; `undefined`: it is being filled. */
      readonly cursor: Cursor | undefined;
      readonly hasSnapshot: boolean;
      /** Open connections, of any kind. */
      readonly connections: number;
    }
  | { readonly type: "ask"; readonly id: number; readonly question: Question }
  /** What the place or the seat was taken for is over. */
  | { readonly type: "left"; readonly place: number }
  | { readonly type: "counted"; readonly keyId: string; readonly requests: number }
  | { readonly type: "measured"; readonly id: number; readonly metrics: unknown };
