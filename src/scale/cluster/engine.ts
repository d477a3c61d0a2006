import { z } from "zod";
import type { AppendResult } from "./effect.ts";
import type { Entry, MemberStart, Position } from "./entry.ts";

/**
 * The next entry for a reader; or `idle`: the reader is at the log's end. The log is writable while
 * enough replicas can acknowledge an entry.
 */
export type LogNews =
  | { readonly kind: "entry"; readonly entry: Entry }
  | { readonly kind: "idle"; readonly head: Position; readonly isWritable: boolean };

/** A message that a node sends to all nodes. It may arrive late, twice or never. */
export const Notice = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("commit"), position: z.object({ offset: z.number(), hash: z.string() }) }),
  z.object({ kind: z.literal("fork"), epoch: z.string() }),
  /** Asks the leader to store its state: a node that starts has none that it can use. */
  z.object({ kind: z.literal("store") }),
  /** A message between gateways, which the protocol does not read. Its sender receives it too. */
  z.object({ kind: z.literal("shared"), text: z.string() }),
]);
export type Notice = Readonly<z.infer<typeof Notice>>;

/** The state of a node at a committed position, as named values. */
export interface Checkpoint extends MemberStart {
  readonly values: Readonly<Record<string, Buffer>>;
}

/** The servers that store the replicated log. */
export interface Engine {
  /**
   * Appends the entry if the log ends with the entry before it, by offset and hash. Resolves with
   * `appended` once enough replicas have the entry, even if the log already had it; otherwise with
   * `fenced` or `truncated` (see {@link AppendResult}). Retries until it has such a result. Rejects
   * only when the signal aborts.
   */
  append(entry: Entry, signal: AbortSignal): Promise<AppendResult>;
  /**
   * Yields all entries from an offset on, in order, as soon as they are written, committed or not.
   * At the end of the log, yields `idle` at least twice a second. Ends when a command fails, the
   * connection is lost or silent for two seconds, or the signal aborts. The caller then reads
   * again. Throws only `UnreadableEntry`.
   *
   * @param from Offset of the first entry. If it was trimmed, starts with the oldest in the log.
   */
  read(from: number, signal: AbortSignal): AsyncIterable<LogNews>;
  /** Sends a notice to all nodes. It may be lost. */
  notify(notice: Notice): void;
  /** Calls the listener with each notice. Returns a function that unsubscribes. */
  onNotice(listener: (notice: Notice) => void): () => void;
  /**
   * Stores a checkpoint, unless one of a later term, or of a later position in the same term, is
   * stored: then resolves with `fenced`. Rejects on failure.
   */
  store(checkpoint: Checkpoint): Promise<"stored" | "fenced">;
  /**
   * Loads the checkpoint with the requested values, as far as it has them; `undefined` if there is
   * no checkpoint. Retries until the engine answers. Rejects only when the signal aborts.
   */
  load(names: readonly string[], signal: AbortSignal): Promise<Checkpoint | undefined>;
  /**
   * Stores a value, which expires after `forMs`. Like `get` and `take`, rejects if the engine does
   * not answer.
   */
  put(name: string, value: string, forMs: number): Promise<void>;
  get(name: string): Promise<string | undefined>;
  /** Removes the value and returns it. Only one of several concurrent callers gets it. */
  take(name: string): Promise<string | undefined>;
  /**
   * Proposes a value, which all nodes share until none has proposed it for `forMs`. Resolves with
   * the present one: this one if there was none or if `isForced`. Rejects if the engine does not
   * answer.
   */
  agree(value: string, forMs: number, isForced: boolean): Promise<string>;
  /**
   * Returns facts about the server, named as in Redis INFO; none if the user has no permission.
   * Retries until the server answers. Rejects if the server refuses the password, if TLS fails, or
   * when the signal aborts.
   */
  facts(signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}
