import type { Clock } from "../../base/lib/time/clock.ts";
import {
  type Cursor,
  EMPTY_SNAPSHOT,
  type EventBody,
  type Lists,
  type Snapshot,
} from "../../base/protocol/index.ts";
import type { EventLog, LogRecord } from "../log/event-log.ts";

export interface HeadBatch {
  /** Event time of the data, in milliseconds since 1970 UTC. Default: unchanged. */
  readonly observedAtMs?: number;
  /** The state after `events`. If absent, the previous state remains: the events change no list. */
  readonly snapshot?: Snapshot;
  readonly events: readonly EventBody[];
}

/**
 * A state that REST serves: the newest, or that of a past minute. Within one turn, all fields
 * describe the same moment (law L2).
 */
export type HeadLike = Pick<Head, "ready" | "cursor" | "snapshot" | "observedAtMs">;

/** The state at the start of a history. Like a first snapshot, it comes without events. */
export interface HeadBase {
  readonly observedAtMs: number;
  /** Includes the marks of the items (`protocol/view/lists.ts`). */
  readonly lists: Lists;
}

/** Called after each batch, in order. If it throws, `HeadOptions.onError` receives the error. */
type HeadListener = (records: readonly LogRecord[], head: Head, events: readonly EventBody[]) => void;

interface HeadOptions {
  readonly log: EventLog;
  /** The state at the log's head, for a restored log. Without it the head is not ready. */
  readonly initial?: { readonly snapshot: Snapshot; readonly observedAtMs: number };
  /** Called when a listener throws. Default: ignored. */
  readonly onError?: (error: unknown) => void;
}

/**
 * The state at the head of the log. Cursor, snapshot and event time change together, after the log
 * has stored the events (law L2, src/README.md).
 */
export class Head {
  readonly #log: EventLog;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<HeadListener>();
  readonly #restartListeners = new Set<(base: HeadBase) => void>();
  #cursor: Cursor;
  #snapshot: Snapshot;
  #observedAtMs: number;
  #ready: boolean;
  #last: Promise<void> = Promise.resolve();
  #pause: Promise<void> | undefined;

  constructor(options: HeadOptions) {
    this.#log = options.log;
    this.#onError = options.onError ?? (() => {});
    this.#cursor = options.log.head;
    this.#snapshot = options.initial?.snapshot ?? EMPTY_SNAPSHOT;
    this.#observedAtMs = options.initial?.observedAtMs ?? 0;
    this.#ready = options.initial !== undefined;
  }

  /** The cursor of {@link snapshot}; behind the log's own head while a batch is being published. */
  get cursor(): Cursor {
    return this.#cursor;
  }

  /** All lists; empty until {@link ready}. Immutable. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Event time of the snapshot in milliseconds since 1970 UTC; 0 until {@link ready}. */
  get observedAtMs(): number {
    return this.#observedAtMs;
  }

  /** True once there is a snapshot. Serve no client before that, although the cursor is valid. */
  get ready(): boolean {
    return this.#ready;
  }

  /**
   * Appends the batch to the log, then makes its state the head. Batches are published in call
   * order. If the log cannot store one, rejects and leaves the head unchanged. Pass `append` for
   * events that already have a seq.
   */
  publish(batch: HeadBatch, append = () => this.#log.append(batch.events)): Promise<void> {
    return this.#enqueue(() => this.#apply(batch, append));
  }

  /**
   * Starts a new history (PROTOCOL.md, W39) after all queued batches. `begin` empties the log;
   * `base` is the new state.
   */
  restart(base: HeadBase, begin: () => Promise<void>): Promise<void> {
    return this.#enqueue(() => this.#restart(base, begin));
  }

  /** Calls `listener` after each {@link restart}, once the head has moved. */
  onRestart(listener: (base: HeadBase) => void): void {
    this.#restartListeners.add(listener);
  }

  /** Calls `listener` after each batch, even an empty one. Returns a function that unsubscribes. */
  onChange(listener: HeadListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Lets a listener delay the next batch until `pause` resolves. `pause` must neither reject nor
   * wait for a publish.
   */
  pauseFor(pause: Promise<void>): void {
    const other = this.#pause;
    this.#pause = other ? other.then(() => pause) : pause;
  }

  /**
   * Calls a listener and reports its error. If that were thrown, the publisher would retry the
   * batch.
   */
  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#onError(error);
    }
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done
      .catch(() => {})
      .then(() => {
        const pause = this.#pause;
        this.#pause = undefined;
        return pause;
      });
    return done;
  }

  async #restart(base: HeadBase, begin: () => Promise<void>): Promise<void> {
    await begin();
    this.#cursor = this.#log.head;
    this.#snapshot = base.lists.snapshot;
    this.#observedAtMs = base.observedAtMs;
    this.#ready = true;
    for (const listener of this.#restartListeners) this.#guard(() => listener(base));
  }

  async #apply(batch: HeadBatch, append: () => Promise<readonly LogRecord[]>): Promise<void> {
    const records = await append();
    const last = records.at(-1);
    if (last) this.#cursor = this.#log.cursorAt(last.seq);
    if (batch.observedAtMs !== undefined) this.#observedAtMs = batch.observedAtMs;
    if (batch.snapshot) {
      this.#ready = true;
      this.#snapshot = batch.snapshot;
    }
    for (const listener of this.#listeners) this.#guard(() => listener(records, this, batch.events));
  }
}

const READY_POLL_MS = 200;
/** Pause after a failure, such as a full disk. */
const FAILURE_PAUSE_MS = 5_000;

/**
 * Runs `follow` as soon as the head is ready, and again whenever it ends, until the signal aborts.
 * After an error, which `onFailure` receives, it pauses first. Never rejects.
 */
export async function keepFollowing(
  head: Pick<Head, "ready">,
  clock: Clock,
  signal: AbortSignal,
  follow: () => Promise<void>,
  onFailure: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      while (!head.ready) await clock.sleep(READY_POLL_MS, signal);
      await follow();
    } catch (error) {
      if (signal.aborted) return;
      onFailure(error);
      await clock.sleep(FAILURE_PAUSE_MS, signal).catch(() => {});
    }
  }
}
