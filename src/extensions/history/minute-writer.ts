import type { Notify } from "../../base/lib/notify.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { Candles } from "../../base/model/index.ts";
import { type EventBody, formatCursor, type Snapshot, type SourceState } from "../../base/protocol/index.ts";
import type { Head } from "../../gateway/hub/index.ts";
import type { MinuteState, MinuteStore } from "./minute-store.ts";
import { packText } from "./minute-text.ts";

interface MinuteWriting {
  readonly head: Served & Pick<Head, "ready" | "onChange" | "onRestart" | "pauseFor">;
  readonly store: Pick<MinuteStore, "insert">;
  readonly notify: Notify;
}

/** The number of candles of each token in a state. */
export interface CandleCounts {
  readonly closed_at: string | null;
  readonly bsc: Readonly<Record<string, number>>;
}

/** The newest served state. */
type Served = Pick<Head, "cursor" | "snapshot" | "observedAtMs">;

/** How long a keyframe serves as the dictionary of later minutes. */
const KEYFRAME_MS = 60 * MINUTE_MS;
/** States that may wait to be stored. With more, as in a fast replay, the head pauses. */
const MAX_WAITING = 32;

/**
 * For each minute of event time, such as 12:34:00, stores the log's last state observed by then,
 * when a later observation is published. The log alone decides on these states, so every server of
 * the log stores the same ones.
 *
 * If the log continues in another process or epoch, nobody served the minutes in between. They are
 * omitted, except one that begins less than a minute after the last sign of life.
 */
export class MinuteWriter {
  readonly #writing: MinuteWriting;
  readonly #stop: () => void;
  #served: Served | undefined;
  #sourceState: SourceState = "live";
  #aliveMs = Number.NEGATIVE_INFINITY;
  #keyframe: { readonly id: number; readonly text: Buffer; readonly atMs: number } | undefined;
  /** The first minutes of the states that wait to be stored, in order. */
  readonly #waiting: number[] = [];
  #written: Promise<void> = Promise.resolve();
  #newestMs = Number.POSITIVE_INFINITY;
  #replacements = 0;
  /** The first minute that could not be stored; `undefined` once storing works again. */
  #failedMs: number | undefined;

  constructor(writing: MinuteWriting) {
    this.#writing = writing;
    const { head } = writing;
    if (head.ready) this.#served = servedBy(head);
    this.#stop = head.onChange((_records, _head, events) => this.#take(events));
    head.onRestart(() => this.#take([]));
  }

  /** Resolves when the states queued for this minute or earlier are stored, or have failed. */
  async settled(atMs = Number.POSITIVE_INFINITY): Promise<void> {
    if (this.#waiting.some((firstMs) => firstMs <= atMs)) await this.#written;
  }

  /** Whether this minute's state is missing because the store fails at present. */
  lacks(atMs: number): boolean {
    return this.#failedMs !== undefined && atMs >= this.#failedMs;
  }

  /**
   * Number of queued states that may replace stored minutes, whether or not they are written yet.
   */
  get replacements(): number {
    return this.#replacements;
  }

  /** Stops, and resolves when all is stored. */
  stop(): Promise<void> {
    this.#stop();
    this.#served = undefined;
    return this.#written;
  }

  #take(events: readonly EventBody[]): void {
    const { head } = this.#writing;
    if (!head.ready) return;
    const before = this.#served;
    const now = servedBy(head);
    this.#served = now;
    if (before && now.observedAtMs > before.observedAtMs) this.#end(before, now);
    const status = events.findLast((event) => event.name === "source-status");
    if (!status) return;
    this.#sourceState = status.data.state;
    this.#aliveMs = Date.parse(status.observed_at);
  }

  #end(before: Served, now: Served): void {
    const { cursor, snapshot, observedAtMs } = before;
    const isLive = this.#sourceState === "live";
    const isContinued = cursor.epoch === now.cursor.epoch && cursor.run === now.cursor.run;
    const silentMs = isLive ? observedAtMs : Math.max(observedAtMs, this.#aliveMs);
    const endMs = isContinued ? now.observedAtMs : Math.min(now.observedAtMs, silentMs + MINUTE_MS);
    const firstMs = Math.ceil(observedAtMs / MINUTE_MS) * MINUTE_MS;
    const lastMs = Math.ceil(endMs / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
    if (lastMs < firstMs) return;
    const aliveMs = isLive && isContinued ? now.observedAtMs : silentMs;
    const sourceState = isLive && !isContinued ? "stale" : this.#sourceState;
    const text = formatCursor(cursor);
    this.#queue({ firstMs, lastMs, observedAtMs, aliveMs, sourceState, cursor: text }, snapshot);
  }

  #queue(state: MinuteState, snapshot: Snapshot): void {
    // Counts the first state, too: an earlier process may have stored newer minutes.
    if (state.firstMs <= this.#newestMs) this.#replacements += 1;
    this.#newestMs = state.lastMs;
    this.#waiting.push(state.firstMs);
    this.#written = this.#written
      .then(() => this.#write(state, snapshot))
      .then(() => this.#succeeded())
      .catch((error) => this.#failed(state, error))
      .finally(() => {
        this.#waiting.shift();
      });
    if (this.#waiting.length > MAX_WAITING) this.#writing.head.pauseFor(this.#written);
  }

  async #write(state: MinuteState, snapshot: Snapshot): Promise<void> {
    const { store } = this.#writing;
    // Candles are stored once, in the history of flares: here they would take most of the bytes.
    const { candles, ...lists } = snapshot;
    const text = Buffer.from(JSON.stringify({ ...lists, candle_counts: countCandles(candles) }));
    const known = this.#keyframe;
    const ageMs = known ? state.firstMs - known.atMs : KEYFRAME_MS;
    if (known && ageMs > 0 && ageMs < KEYFRAME_MS) {
      const body = await packText(text, known.text);
      if (store.insert({ state, body, keyframe: known.id }) !== undefined) return;
    }
    const [keyframe, body] = await Promise.all([packText(text), packText(text, text)]);
    const id = store.insert({ state, body, keyframe });
    this.#keyframe = id === undefined ? undefined : { id, text, atMs: state.firstMs };
  }

  #succeeded(): void {
    if (this.#failedMs !== undefined)
      this.#writing.notify("info", "resumed storing the state of each minute");
    this.#failedMs = undefined;
  }

  #failed({ firstMs }: MinuteState, error: unknown): void {
    // Logged only once: a line for each attempt would help to fill the disk.
    if (this.#failedMs === undefined)
      this.#writing.notify("warn", `cannot store the state of a minute: ${messageOf(error)}`, { err: error });
    this.#failedMs = Math.min(this.#failedMs ?? firstMs, firstMs);
  }
}

function countCandles({ closed_at, bsc }: Candles): CandleCounts {
  const counts = Object.entries(bsc).map(([address, { length }]) => [address, length] as const);
  return { closed_at, bsc: Object.fromEntries(counts) };
}

function servedBy({ cursor, snapshot, observedAtMs }: Served): Served {
  return { cursor, snapshot, observedAtMs };
}
