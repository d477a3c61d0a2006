import { randomBytes } from "node:crypto";
import type { Clock } from "../../base/lib/time/clock.ts";
import { DAY_MS } from "../../base/lib/time/time.ts";
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
  toEpoch,
  toSeq,
} from "../../base/protocol/index.ts";
import {
  checkContiguous,
  copyOutOfPool,
  encodeBody,
  type FollowerLog,
  type LastingResult,
  type LogRecord,
  type LogStart,
  type ReadResult,
} from "./event-log.ts";
import { bytesOf, firstWhere, type RetainedEvent, RetainedEvents } from "./retained-events.ts";
import { type RunStart, Runs } from "./runs.ts";

export interface MemoryLogOptions {
  /** Default: a random one, for a log that does not continue an earlier one. */
  readonly epoch?: Epoch | undefined;
  readonly clock: Clock;
  /** Minimum retention of events, in ms. Default 600,000; 0: only `minCount` retains events. */
  readonly maxAgeMs?: number;
  /** Number of latest events retained at any age. Default 10,000; 0: only age retains events. */
  readonly minCount?: number;
  /** Minimum retention of lasting events, in ms. Default: 24 hours; 0: like other events. */
  readonly lastingAgeMs?: number;
  /**
   * Maximum {@link EventLog.bytes}, which only the latest batch may exceed. Above it, the oldest
   * events are dropped whatever their age. If the lasting events from before
   * {@link EventLog.oldest} take more than half of it, they are dropped first. Default: 64 MiB.
   */
  readonly maxBytes?: number;
  /** An earlier log of the same epoch to continue. Its ages come from the wall clock. */
  readonly stored?: {
    readonly records: readonly LogRecord[];
    readonly positions: Readonly<Partial<Record<Channel, number>>>;
    /** `records` has every event after this seq. Default: before the first record. */
    readonly oldest?: number;
    /** After this seq `records` has every lasting event. Default: `oldest`. */
    readonly oldestLasting?: number;
    /** Default: all records are of the epoch's first run. */
    readonly runs?: readonly RunStart[] | undefined;
  };
  /**
   * Run of the events that `append` creates. Required with `stored`, unless `follows`. Default: the
   * epoch's first run.
   */
  readonly run?: Run | undefined;
  /** Mirrors another log, which may have runs that this one has not received. Default: false. */
  readonly follows?: boolean | undefined;
  /** Called for the first {@link Stray} only, which suggests that the log was rolled back. */
  readonly onStray?: ((stray: Stray) => void) | undefined;
  /** Called when a listener throws; must not throw. Default: ignored. */
  readonly onError?: (error: unknown) => void;
}

/** A client's cursor of this epoch, whose event is missing here or belongs to another run. */
export interface Stray {
  readonly cursor: Cursor;
  readonly head: Cursor;
  /** Seq of the last event of the cursor's run here, if the run is known. */
  readonly lastOfRun: number | undefined;
}

type Listener = { readonly call: (records: readonly LogRecord[]) => void };
type Delivery = { readonly records: readonly LogRecord[]; readonly to: readonly Listener[] };

/** Creates an epoch: 16 random hexadecimal digits, so that no two histories share one. */
function randomEpoch(): Epoch {
  return toEpoch(randomBytes(8).toString("hex"));
}

function startPositions(): Readonly<Record<Channel, Seq>> {
  return Object.fromEntries(CHANNELS.map((channel) => [channel, toSeq(0)])) as Record<Channel, Seq>;
}

/**
 * An event log in memory, which ends with the process. An append costs the same at any size. Old
 * events are dropped at the next append: a silent market keeps its last events.
 */
export class MemoryLog implements FollowerLog {
  readonly #clock: Clock;
  readonly #maxAgeMs: number;
  readonly #minCount: number;
  readonly #lastingAgeMs: number;
  readonly #maxBytes: number;
  readonly #onError: (error: unknown) => void;
  readonly #run: Run | undefined;
  readonly #follows: boolean;
  #onStray: MemoryLogOptions["onStray"];
  #epoch: Epoch;
  #runs = new Runs();
  /** By seq, from #oldest + 1 to #head without a gap. */
  readonly #entries = new Map<number, RetainedEvent>();
  /** Lasting events up to #oldest. */
  #lasting = new RetainedEvents(0);
  readonly #listeners = new Set<Listener>();
  readonly #deliveries: Delivery[] = [];
  #head = 0;
  #oldest = 0;
  #bytes = 0;
  #latestMs = 0;
  #positions = startPositions();
  #restarts = 0;
  #delivering = false;
  #closed = false;

  constructor(options: MemoryLogOptions) {
    this.#epoch = options.epoch ?? randomEpoch();
    this.#clock = options.clock;
    this.#maxAgeMs = options.maxAgeMs ?? 600_000;
    this.#minCount = options.minCount ?? 10_000;
    this.#lastingAgeMs = options.lastingAgeMs ?? DAY_MS;
    this.#maxBytes = options.maxBytes ?? 64 * 2 ** 20;
    this.#onError = options.onError ?? (() => undefined);
    this.#run = options.run;
    this.#follows = options.follows ?? false;
    this.#onStray = options.onStray;
    if (options.stored) this.#resume(options.stored);
  }

  get epoch(): Epoch {
    return this.#epoch;
  }

  get head(): Cursor {
    return this.cursorAt(toSeq(this.#head));
  }

  get oldest(): Cursor {
    return this.cursorAt(toSeq(this.#oldest));
  }

  get oldestLasting(): Cursor {
    return this.cursorAt(toSeq(Math.min(this.#lasting.droppedTo, this.#oldest)));
  }

  get runs(): readonly RunStart[] {
    return this.#runs.starts;
  }

  cursorAt(seq: Seq): Cursor {
    return this.#runs.cursorAt(this.#epoch, seq);
  }

  strayed(cursor: Cursor): Lost | undefined {
    const { epoch, seq, run } = cursor;
    if (epoch !== this.#epoch) return { reason: "epoch-changed", events: null };
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
    return this.#bytes + this.#lasting.bytes;
  }

  async append(events: readonly EventBody[]): Promise<readonly LogRecord[]> {
    this.#mustBeOpen();
    if (events.length === 0) return [];
    const emittedAtMs = this.#clock.now();
    const batch = toSeq(this.#head + events.length);
    const run = this.#run;
    const records = events.map((event, index): LogRecord => {
      const { channel, name } = event;
      const encoded = encodeBody(event);
      return { seq: toSeq(this.#head + index + 1), channel, name, emittedAtMs, batch, encoded, run };
    });
    return this.#append(records);
  }

  async appendReplicated(records: readonly LogRecord[]): Promise<readonly LogRecord[]> {
    this.#mustBeOpen();
    checkContiguous(records, this.#head);
    return records.length === 0 ? [] : this.#append(records);
  }

  async restart({ cursor, positions }: LogStart): Promise<void> {
    const { epoch, seq, run } = cursor;
    this.#restarts += 1;
    this.#deliveries.length = 0;
    this.#epoch = epoch;
    this.#resume({ records: [], positions, oldest: seq, oldestLasting: seq, runs: [{ from: seq, run }] });
  }

  /** Called with each batch before it is stored. If it throws, the batch is not appended. */
  protected writeAhead(_records: readonly LogRecord[]): void {}

  #append(batch: readonly LogRecord[]): readonly LogRecord[] {
    const records = batch.map(withOwnBytes);
    this.writeAhead(records);
    this.#store(records);
    this.#deliveries.push({ records, to: [...this.#listeners] });
    this.#deliver();
    return records;
  }

  async read(after: Cursor, limit: number): Promise<ReadResult> {
    this.#checkRead(limit);
    const lost = this.#lostAfter(after, this.#oldest);
    return lost ? { kind: "lost", lost } : { kind: "records", records: this.#recordsAfter(after.seq, limit) };
  }

  async readLasting(after: Cursor, limit: number): Promise<LastingResult> {
    this.#checkRead(limit);
    const lost = this.#lostAfter(after, this.oldestLasting.seq);
    if (lost) return { kind: "lost", lost };
    if (after.seq < this.#oldest) {
      const records = this.#lasting.after(after.seq, Math.floor(limit));
      const last = records.length < Math.floor(limit) ? this.#oldest : records.at(-1)?.seq;
      return { kind: "records", records, through: toSeq(last ?? this.#oldest) };
    }
    const found = this.#recordsAfter(after.seq, limit);
    const records = found.filter(({ name }) => LASTING_EVENTS.has(name));
    return { kind: "records", records, through: found.at(-1)?.seq ?? after.seq };
  }

  cursorAtTime(atMs: number, lasting: boolean): Cursor | undefined {
    const isLater = (seq: number) => (this.#entries.get(seq)?.latestMs ?? 0) > atMs;
    const seq = firstWhere(this.#oldest + 1, this.#head + 1, isLater) - 1;
    if (seq > this.#oldest) return this.cursorAt(toSeq(seq));
    const last = lasting ? this.#lasting.lastUpTo(atMs) : undefined;
    return last && this.cursorAt(last.record.seq);
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
    this.#lasting.clear();
    this.#oldest = this.#head;
    this.#bytes = 0;
  }

  /** Replaces the contents. */
  #resume({
    records,
    positions,
    oldest,
    oldestLasting,
    runs,
  }: NonNullable<MemoryLogOptions["stored"]>): void {
    this.#entries.clear();
    this.#bytes = 0;
    this.#latestMs = 0;
    this.#runs = new Runs(runs);
    const known = Object.entries(positions).map(([channel, seq]) => [channel, toSeq(seq)]);
    this.#positions = { ...startPositions(), ...Object.fromEntries(known) };
    this.#head = Math.max(records.at(-1)?.seq ?? 0, ...Object.values(this.#positions));
    this.#oldest = oldest ?? (records[0] ? records[0].seq - 1 : this.#head);
    this.#lasting = new RetainedEvents(oldestLasting ?? this.#oldest);
    for (const record of records.map(withOwnBytes)) {
      const ageMs = Math.max(0, this.#clock.now() - record.emittedAtMs);
      const event = this.#retained(record, this.#clock.monotonic() - ageMs);
      if (record.seq <= this.#oldest) this.#lasting.push(event);
      else this.#retain(event);
    }
  }

  /** Stores a batch. Cannot fail, because its events are already encoded. */
  #store(records: readonly LogRecord[]): void {
    const appendedAtMs = this.#clock.monotonic();
    const before = this.#head;
    const positions = { ...this.#positions };
    for (const record of records) {
      this.#retain(this.#retained(record, appendedAtMs));
      positions[record.channel] = record.seq;
      this.#runs.append(record.seq, record.run);
      this.#head = record.seq;
    }
    this.#positions = positions;
    this.#trim(appendedAtMs, before);
  }

  #retained(record: LogRecord, appendedAtMs: number): RetainedEvent {
    this.#latestMs = Math.max(this.#latestMs, record.emittedAtMs);
    return { record, appendedAtMs, latestMs: this.#latestMs };
  }

  #retain(event: RetainedEvent): void {
    this.#entries.set(event.record.seq, event);
    this.#bytes += bytesOf(event.record);
  }

  /** Drops old events that need not be retained, at most up to `last`, and old lasting events. */
  #trim(nowMs: number, last: number): void {
    for (;;) {
      const next = this.#oldest < last ? this.#entries.get(this.#oldest + 1) : undefined;
      const isFull = this.bytes > this.#maxBytes;
      if (isFull && (!next || this.#lasting.bytes > this.#maxBytes / 2)) {
        if (!this.#lasting.drop()) return;
      } else if (next && (isFull || this.#isExpired(next, nowMs))) this.#expire(next);
      else break;
    }
    this.#lasting.dropBefore(nowMs - this.#lastingAgeMs);
    this.#runs.dropBefore(Math.min(this.#lasting.droppedTo, this.#oldest));
  }

  #isExpired({ appendedAtMs }: RetainedEvent, nowMs: number): boolean {
    return nowMs - appendedAtMs > this.#maxAgeMs && this.#head - this.#oldest > this.#minCount;
  }

  #expire(event: RetainedEvent): void {
    const { record } = event;
    this.#entries.delete(record.seq);
    this.#bytes -= bytesOf(record);
    this.#oldest = record.seq;
    if (LASTING_EVENTS.has(record.name)) this.#lasting.push(event);
  }

  /**
   * Delivers batches in order. A batch that a listener appends is delivered after the current one.
   */
  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (let next = this.#deliveries.shift(); next; next = this.#deliveries.shift()) this.#notify(next);
    } finally {
      this.#delivering = false;
    }
  }

  #notify({ records, to }: Delivery): void {
    const restarts = this.#restarts;
    for (const listener of to) {
      // A listener may have restarted the log. The later ones must not see its old history.
      if (this.#restarts !== restarts) return;
      if (!this.#listeners.has(listener)) continue;
      try {
        listener.call(records);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  #recordsAfter(after: Seq, limit: number): readonly LogRecord[] {
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

function withOwnBytes(record: LogRecord): LogRecord {
  const encoded = copyOutOfPool(record.encoded);
  return encoded === record.encoded ? record : { ...record, encoded };
}
