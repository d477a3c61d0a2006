import type { Clock } from "../lib/time/clock.ts";
import { DAY_MS } from "../lib/time/time.ts";
import {
  CHANNELS,
  type Channel,
  type Cursor,
  type Epoch,
  type EventBody,
  FlarewireError,
  LASTING_EVENTS,
  type Lost,
  type Run,
  type Seq,
  toSeq,
} from "../protocol/index.ts";
import { checkPlaces } from "./check-contiguous.ts";
import { copyOutOfPool } from "./copy-out-of-pool.ts";
import { encodeTail } from "./encode-tail.ts";
import type { LastingResult, LogRecord, LogStart, ReadResult, ReplicaLog } from "./event-log.ts";
import { randomEpoch } from "./random-epoch.ts";
import { bytesOf, type HeldEvent, RetainedEvents } from "./retained-events.ts";
import { type RunStart, Runs } from "./sqlite/runs.ts";

/** Options of {@link createMemoryLog}. An event is dropped only when it is older than `maxAgeMs` *and* not of the latest `minCount`, or when `maxBytes` demands it. */
export interface MemoryLogOptions {
  /** Default: a new one by chance; what is in memory continues nothing. */
  readonly epoch?: Epoch;
  readonly clock: Clock;
  /** Milliseconds, measured by the monotonic clock: a wall clock that is set does not empty the log. Default 600,000; 0: only the count holds events. */
  readonly maxAgeMs?: number;
  /** Default 10,000; 0: only the age holds events. */
  readonly minCount?: number;
  /** How long lasting events are held, in milliseconds of the monotonic clock, where that is longer than the rest are. Default 24 hours; 0: no longer than the rest. */
  readonly lastingAgeMs?: number;
  /**
   * Most bytes held, see {@link EventLog.bytes}; the latest batch stays whole even if it alone is more. Where more would be held, the oldest go: of the
   * lasting events whose neighbours are gone while these take more than half of the room, else of all. Default 64 MiB; Infinity: no cap.
   */
  readonly maxBytes?: number;
  /** What a log of the same epoch held before: this one goes on behind it. Ages go on by the wall clock, as nothing else outlives a process. Default: nothing. */
  readonly kept?: {
    readonly records: readonly LogRecord[];
    readonly positions: Readonly<Partial<Record<Channel, number>>>;
    /** From here on `records` has every event, before it only lasting ones. Default: before the first. */
    readonly oldest?: number;
    /** From here on `records` has every lasting event. Default: `oldest`. */
    readonly oldestLasting?: number;
    /** Default: all are of the epoch's first run. */
    readonly runs?: readonly RunStart[] | undefined;
  };
  /** What this log appends by itself is of this run. Wanted where `kept` is continued. Default: the epoch's first run. */
  readonly run?: Run | undefined;
  /** The events are another log's: a cursor beyond the head may be of a run that this log has yet to hear of. Default false. */
  readonly follows?: boolean | undefined;
  /** Called once, with the first cursor of this epoch that a client shows and that this log does not have. Default: nothing is called. */
  readonly onStray?: ((stray: Stray) => void) | undefined;
  /** Begin here, in this epoch, with nothing before it: the log of one that follows another. Only without `kept`. */
  readonly start?: LogStart;
  /** Called with each batch before the log takes it and anybody hears of it. Where it throws, the batch is not appended. Default: nothing is called. */
  readonly writeAhead?: (records: readonly LogRecord[]) => void;
  /** Told when a listener throws; must not throw itself. Default: nobody is told. */
  readonly onError?: (error: unknown) => void;
}

/** A cursor of the log's epoch whose place holds no event, or one of another run: the log was set back, lost its end, or another one went on under its name. */
export interface Stray {
  readonly cursor: Cursor;
  readonly head: Cursor;
  /** Seq of the last event that this log has of the cursor's run; `undefined`: it knows nothing of that run. */
  readonly lastOfRun: number | undefined;
}

/**
 * The event log in this process's memory: gone with it, and then the epoch is another. Appending costs the same however much is held; reading costs
 * what is read. What is too old is dropped at the next append, so a silent market keeps its last events.
 */
export function createMemoryLog(options: MemoryLogOptions): ReplicaLog {
  return new MemoryLog(options);
}

type Listener = { readonly call: (records: readonly LogRecord[]) => void };
type Delivery = { readonly records: readonly LogRecord[]; readonly to: readonly Listener[] };

function startPositions(): Readonly<Record<Channel, Seq>> {
  return Object.fromEntries(CHANNELS.map((channel) => [channel, toSeq(0)])) as Record<Channel, Seq>;
}

function keptOf({ cursor, positions }: LogStart): NonNullable<MemoryLogOptions["kept"]> {
  const runs = [{ from: cursor.seq, run: cursor.run }];
  return { records: [], positions, oldest: cursor.seq, oldestLasting: cursor.seq, runs };
}

class MemoryLog implements ReplicaLog {
  readonly epoch: Epoch;
  readonly #clock: Clock;
  readonly #maxAgeMs: number;
  readonly #minCount: number;
  readonly #lastingAgeMs: number;
  readonly #maxBytes: number;
  readonly #writeAhead: (records: readonly LogRecord[]) => void;
  readonly #onError: (error: unknown) => void;
  readonly #run: Run | undefined;
  readonly #follows: boolean;
  #onStray: MemoryLogOptions["onStray"];
  #runs = new Runs();
  /** By seq, from #oldest + 1 to #head without a gap. */
  readonly #entries = new Map<number, HeldEvent>();
  /** Up to #oldest. */
  #tail = new RetainedEvents(0);
  readonly #listeners = new Set<Listener>();
  readonly #deliveries: Delivery[] = [];
  #head = 0;
  #oldest = 0;
  #bytes = 0;
  #positions: Readonly<Record<Channel, Seq>>;
  #delivering = false;
  #closed = false;

  constructor(options: MemoryLogOptions) {
    this.epoch = options.start?.cursor.epoch ?? options.epoch ?? randomEpoch();
    this.#clock = options.clock;
    this.#maxAgeMs = options.maxAgeMs ?? 600_000;
    this.#minCount = options.minCount ?? 10_000;
    this.#lastingAgeMs = options.lastingAgeMs ?? DAY_MS;
    this.#maxBytes = options.maxBytes ?? 64 * 2 ** 20;
    this.#onError = options.onError ?? (() => undefined);
    this.#writeAhead = options.writeAhead ?? (() => undefined);
    this.#run = options.run;
    this.#follows = options.follows ?? false;
    this.#onStray = options.onStray;
    this.#positions = startPositions();
    const kept = options.kept ?? (options.start && keptOf(options.start));
    if (kept) this.#resume(kept);
  }

  get head(): Cursor {
    return this.cursorAt(toSeq(this.#head));
  }

  get oldest(): Cursor {
    return this.cursorAt(toSeq(this.#oldest));
  }

  get oldestLasting(): Cursor {
    return this.cursorAt(toSeq(Math.min(this.#tail.droppedTo, this.#oldest)));
  }

  get runs(): readonly RunStart[] {
    return this.#runs.starts;
  }

  cursorAt(seq: Seq): Cursor {
    return this.#runs.cursorAt(this.epoch, seq);
  }

  strayed(cursor: Cursor): Lost | undefined {
    const { epoch, seq, run } = cursor;
    if (epoch !== this.epoch) return { reason: "epoch-changed", events: null };
    const isBeyond = seq > this.#head;
    if (isBeyond && (this.#follows || run === this.#run)) return { reason: "ahead", events: null };
    if (!isBeyond && this.#runs.mayHave(cursor)) return undefined;
    this.#onStray?.({ cursor, head: this.head, lastOfRun: this.#runs.lastOf(run, this.#head) });
    this.#onStray = undefined;
    return { reason: "epoch-changed", events: null };
  }

  get positions(): Readonly<Record<Channel, Seq>> {
    return this.#positions;
  }

  get bytes(): number {
    return this.#bytes + this.#tail.bytes;
  }

  async append(events: readonly EventBody[]): Promise<readonly LogRecord[]> {
    this.#mustBeOpen();
    if (events.length === 0) return [];
    const emittedAtMs = this.#clock.now();
    const batch = toSeq(this.#head + events.length);
    const run = this.#run;
    const records = events.map((event, index): LogRecord => {
      const { channel, name } = event;
      const tail = encodeTail(event);
      return { seq: toSeq(this.#head + index + 1), channel, name, emittedAtMs, batch, tail, run };
    });
    return this.#append(records);
  }

  async appendReplicated(records: readonly LogRecord[]): Promise<readonly LogRecord[]> {
    this.#mustBeOpen();
    checkPlaces(records, this.#head);
    return records.length === 0 ? [] : this.#append(records);
  }

  #append(given: readonly LogRecord[]): readonly LogRecord[] {
    const records = given.map(copyOutOfPool);
    this.#writeAhead(records);
    this.#keep(records);
    this.#deliveries.push({ records, to: [...this.#listeners] });
    this.#deliver();
    return records;
  }

  async read(after: Cursor, limit: number): Promise<ReadResult> {
    this.#checkRead(limit);
    const lost = this.#lostAfter(after, this.#oldest);
    return lost ? { kind: "lost", lost } : { kind: "records", records: this.#heldAfter(after.seq, limit) };
  }

  async readLasting(after: Cursor, limit: number): Promise<LastingResult> {
    this.#checkRead(limit);
    const lost = this.#lostAfter(after, this.oldestLasting.seq);
    if (lost) return { kind: "lost", lost };
    if (after.seq < this.#oldest) {
      const records = this.#tail.after(after.seq, Math.floor(limit));
      const last = records.length < Math.floor(limit) ? this.#oldest : records.at(-1)?.seq;
      return { kind: "records", records, through: toSeq(last ?? this.#oldest) };
    }
    const held = this.#heldAfter(after.seq, limit);
    const records = held.filter(({ name }) => LASTING_EVENTS.has(name));
    return { kind: "records", records, through: held.at(-1)?.seq ?? after.seq };
  }

  onAppend(call: (records: readonly LogRecord[]) => void): () => void {
    const listener = { call };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#listeners.clear();
    this.#entries.clear();
    this.#tail.clear();
    this.#oldest = this.#head;
    this.#bytes = 0;
  }

  #resume({ records, positions, oldest, oldestLasting, runs }: NonNullable<MemoryLogOptions["kept"]>): void {
    this.#runs = new Runs(runs);
    const known = Object.entries(positions).map(([channel, seq]) => [channel, toSeq(seq)]);
    this.#positions = { ...this.#positions, ...Object.fromEntries(known) };
    this.#head = Math.max(records.at(-1)?.seq ?? 0, ...Object.values(this.#positions));
    this.#oldest = oldest ?? (records[0] ? records[0].seq - 1 : this.#head);
    this.#tail = new RetainedEvents(oldestLasting ?? this.#oldest);
    for (const record of records.map(copyOutOfPool)) {
      const ageMs = Math.max(0, this.#clock.now() - record.emittedAtMs);
      const event = { record, appendedAt: this.#clock.monotonic() - ageMs };
      if (record.seq <= this.#oldest) this.#tail.push(event);
      else this.#hold(event);
    }
  }

  /** From here on nothing can fail: the batch is in whole or, had its encoding thrown, not at all. */
  #keep(records: readonly LogRecord[]): void {
    const appendedAt = this.#clock.monotonic();
    const before = this.#head;
    const positions = { ...this.#positions };
    for (const record of records) {
      this.#hold({ record, appendedAt });
      positions[record.channel] = record.seq;
      this.#runs.append(record.seq, record.run);
      this.#head = record.seq;
    }
    this.#positions = positions;
    this.#trim(appendedAt, before);
  }

  #hold(event: HeldEvent): void {
    this.#entries.set(event.record.seq, event);
    this.#bytes += bytesOf(event.record);
  }

  /** Drops from the old end what nothing holds, at most up to `last`. */
  #trim(now: number, last: number): void {
    for (;;) {
      const next = this.#oldest < last ? this.#entries.get(this.#oldest + 1) : undefined;
      const isFull = this.bytes > this.#maxBytes;
      if (isFull && (!next || this.#tail.bytes > this.#maxBytes / 2)) {
        if (!this.#tail.drop()) return;
      } else if (next && (isFull || this.#isOutlived(next, now))) this.#outlive(next);
      else break;
    }
    this.#tail.dropBefore(now - this.#lastingAgeMs);
    this.#runs.dropBefore(Math.min(this.#tail.droppedTo, this.#oldest));
  }

  #isOutlived({ appendedAt }: HeldEvent, now: number): boolean {
    return now - appendedAt > this.#maxAgeMs && this.#head - this.#oldest > this.#minCount;
  }

  #outlive(event: HeldEvent): void {
    const { record } = event;
    this.#entries.delete(record.seq);
    this.#bytes -= bytesOf(record);
    this.#oldest = record.seq;
    if (LASTING_EVENTS.has(record.name)) this.#tail.push(event);
  }

  /** A listener may append: that batch waits its turn, so that all hear the batches in order. Who starts to listen meanwhile starts at the head. */
  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (let next = this.#deliveries.shift(); next; next = this.#deliveries.shift()) this.#hand(next);
    } finally {
      this.#delivering = false;
    }
  }

  #hand({ records, to }: Delivery): void {
    for (const listener of to) {
      if (!this.#listeners.has(listener)) continue;
      try {
        listener.call(records);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  #heldAfter(after: Seq, limit: number): readonly LogRecord[] {
    const records: LogRecord[] = [];
    const last = Math.min(this.#head, after + Math.floor(limit));
    for (let seq = after + 1; seq <= last; seq += 1) {
      const event = this.#entries.get(seq);
      if (event) records.push(event.record);
    }
    return records;
  }

  #lostAfter(cursor: Cursor, oldest: number): Lost | undefined {
    const strayed = this.strayed(cursor);
    if (strayed || cursor.seq >= oldest) return strayed;
    return { reason: "expired", events: this.#head - cursor.seq };
  }

  #checkRead(limit: number): void {
    this.#mustBeOpen();
    if (limit >= 1) return;
    const about = { field: "limit", bound: ">= 1" };
    throw new FlarewireError("invalid-parameter", `limit ${limit} is below 1`, about);
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new FlarewireError("draining", "the event log is closed");
  }
}
