import type { AppendResult } from "./effect.ts";
import type { Entry, Position } from "./entry.ts";
import type { MemberStart } from "./member.ts";

/**
 * What a reader learns: the next entry, or that there is none after the log's end for now. The log
 * is writable while there are replicas to acknowledge an entry.
 */
export type LogNews =
  | { readonly kind: "entry"; readonly entry: Entry }
  | { readonly kind: "idle"; readonly head: Position; readonly isWritable: boolean };

/** News that nodes send each other. It may come late, twice or never. */
export type Notice =
  | { readonly kind: "commit"; readonly position: Position }
  | { readonly kind: "fork"; readonly epoch: string }
  /** A message between gateways, which the log does not read. Its sender receives it too. */
  | { readonly kind: "shared"; readonly text: string };

/** The state of a node at a committed position, as named values. */
export interface Checkpoint extends MemberStart {
  readonly values: Readonly<Record<string, Buffer>>;
}

/** The servers that hold the replicated log. */
export interface Engine {
  /**
   * Appends the entry if the log ends with the entry before it, by offset and hash. Resolves with
   * `appended` once as many replicas as required have it, also if it was in the log before. Retries
   * until the engine answers. Rejects only when the signal aborts.
   */
  append(entry: Entry, signal: AbortSignal): Promise<AppendResult>;
  /**
   * Yields all entries from an offset on, in order, as soon as they are written, committed or not;
   * and `idle` at least twice a second while there are none. Ends when the connection is lost, is
   * silent for two seconds, or the signal aborts. Then read again. Throws `UnreadableEntry` only.
   *
   * @param from Offset of the first entry. If the log no longer has it, the first one that it has.
   */
  read(from: number, signal: AbortSignal): AsyncIterable<LogNews>;
  /** Tells all nodes, as well as possible. */
  notify(notice: Notice): void;
  /** Calls the listener with each notice. Returns a function that unsubscribes. */
  onNotice(listener: (notice: Notice) => void): () => void;
  /** Stores a checkpoint, unless one of a later term or position is stored. Rejects on failure. */
  store(checkpoint: Checkpoint): Promise<"stored" | "fenced">;
  /**
   * Loads these values of the stored checkpoint, as far as it has them; `undefined` if none is
   * stored. Retries until the engine answers. Rejects only when the signal aborts.
   */
  load(names: readonly string[], signal: AbortSignal): Promise<Checkpoint | undefined>;
  /** Stores a value that expires. This and the next two reject if the engine does not answer. */
  put(name: string, value: string, forMs: number): Promise<void>;
  get(name: string): Promise<string | undefined>;
  /** Returns the value and removes it. Of several callers one gets it. */
  take(name: string): Promise<string | undefined>;
  /**
   * Returns facts about the server, by Redis' names; none if it does not permit this. Retries until
   * it answers. Rejects if it refuses the password, or its certificate is not valid.
   */
  facts(signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /** Closes the connections. */
  close(): Promise<void>;
}
