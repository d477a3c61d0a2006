import type { EventLog, LogRecord } from "../log/event-log.ts";
import {
  type Channel,
  type Cursor,
  EMPTY_SNAPSHOT,
  type EventBody,
  type Lists,
  projectSnapshot,
  type Snapshot,
} from "../protocol/index.ts";

/** What a poll brought, or a change of the source's state. */
export interface HeadBatch {
  /** Event time of the data, in milliseconds since 1970 UTC; without it, that of the batch before stays. */
  readonly observedAtMs?: number;
  /** The state after `events`; without it, that of the batch before stays: the events change no list. */
  readonly snapshot?: Snapshot;
  readonly events: readonly EventBody[];
}

/** A state at which a history begins: without events, like a first snapshot. */
export interface HeadBase {
  readonly observedAtMs: number;
  /** With what its items were before. */
  readonly lists: Lists;
}

/** Called after each batch, in order, when the head is there already; `records` and `events` are the same things in the same order. Must not throw, nor publish and wait for it. */
export type HeadListener = (records: readonly LogRecord[], head: Head, events: readonly EventBody[]) => void;

/** Snapshot texts that are kept until the next change: above it the oldest goes. Clients ask for few sets of channels. */
const KEPT_TEXTS = 32;

/** What a head is made of. */
export interface HeadOptions {
  readonly log: EventLog;
  /** What belongs to the log's head: of a log that was kept, the state that was kept with it. Without it the head is not ready. */
  readonly initial?: { readonly snapshot: Snapshot; readonly observedAtMs: number };
  /** Told when a listener throws. Default: nobody is told. */
  readonly onError?: (error: unknown) => void;
}

/**
 * The state at the head of the log. Cursor, snapshot and event time always belong together (law L2): they change in one
 * step, after the log has kept the events, and whoever reads them within one turn of the event loop sees one instant.
 */
export class Head {
  readonly #log: EventLog;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<HeadListener>();
  readonly #restartListeners = new Set<(base: HeadBase) => void>();
  readonly #texts = new Map<string, string>();
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

  /** Everything up to here is in {@link snapshot}. May stand behind the log's own head for as long as a batch is being published. */
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

  /**
   * A first snapshot is there. It is the base: it yields no events, so whoever was served before would hold another state
   * at the same cursor. Serve nobody until then.
   */
  get ready(): boolean {
    return this.#ready;
  }

  /**
   * Appends the batch's events to the log and then makes its state the head. Batches are taken one after the other, in the
   * order of the calls. Rejects when the log does not keep the events; the head then stays, and later batches are taken. `append`: how they come
   * into the log, where they have their places already.
   */
  publish(batch: HeadBatch, append = () => this.#log.append(batch.events)): Promise<void> {
    return this.#next(() => this.#take(batch, append));
  }

  /**
   * Begins another history: `begin` makes the log stand where it starts, with nothing in it, and `base` is the state there. In turn with the
   * batches. What was served before cannot be gone on from, so whoever follows has to be told: see {@link onRestart}.
   */
  restart(base: HeadBase, begin: () => Promise<void>): Promise<void> {
    return this.#next(() => this.#restart(base, begin));
  }

  /** Calls `listener` after each {@link restart}, when the head is the new one already. */
  onRestart(listener: (base: HeadBase) => void): void {
    this.#restartListeners.add(listener);
  }

  /** Calls `listener` after each batch, also after one without events. Returns how to stop it. */
  onChange(listener: HeadListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** For one listener, while it is told of a batch: the next one, or a restart, waits for `pause`, which must not reject. Whoever published waits for nothing more. */
  pauseFor(pause: Promise<void>): void {
    this.#pause = pause;
  }

  /** JSON text of what these channels show of the snapshot, made once per change however often it is asked for. */
  snapshotText(channels: readonly Channel[]): string {
    const key = [...channels].sort().join();
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = JSON.stringify(projectSnapshot(this.#snapshot, channels));
    const [oldest] = this.#texts.keys();
    if (oldest !== undefined && this.#texts.size >= KEPT_TEXTS) this.#texts.delete(oldest);
    this.#texts.set(key, text);
    return text;
  }

  /** A listener's fault is not the publisher's, who would publish again, and keeps nothing from the other listeners. */
  #guard(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#onError(error);
    }
  }

  #next(work: () => Promise<void>): Promise<void> {
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
    this.#texts.clear();
    for (const listener of this.#restartListeners) this.#guard(() => listener(base));
  }

  async #take(batch: HeadBatch, append: () => Promise<readonly LogRecord[]>): Promise<void> {
    const records = await append();
    const last = records.at(-1);
    if (last) this.#cursor = this.#log.cursorAt(last.seq);
    if (batch.observedAtMs !== undefined) this.#observedAtMs = batch.observedAtMs;
    if (batch.snapshot) {
      this.#ready = true;
      if (batch.snapshot !== this.#snapshot) this.#texts.clear();
      this.#snapshot = batch.snapshot;
    }
    for (const listener of this.#listeners) this.#guard(() => listener(records, this, batch.events));
  }
}
