import type { Cursor, Lost, Seq } from "../../../base/protocol/index.ts";
import type { LogRecord } from "../../log/event-log.ts";
import { type ChannelMask, channelsOf } from "../channel-mask.ts";
import type { Group, GroupMember } from "../group.ts";
import { conflatedMask, conflatedText, frameMissed } from "../lists/conflate.ts";
import type { ListWalk } from "../lists/list-walk.ts";
import { NOT_SUBSCRIBED, type Selection, type SelectionPart } from "../session/selection.ts";
import type { DeliveryHost } from "../session/session-host.ts";
import type { Socket } from "../session/socket.ts";
import { createShape, type StreamShape } from "../session/stream-shape.ts";
import { type BacklogPart, readBacklog, throughOf } from "./backlog.ts";
import { type EventFrames, EventHeadCache, frameEvents } from "./event-frames.ts";
import type { Framing } from "./framing.ts";

export interface DeliveryOwner {
  /** Commands may be answerable now: the socket has room, or the client is at the head. */
  ready(): void;
  watchBehind(on: boolean): void;
  /** The client is too slow: it makes no progress, or its cursor has expired. */
  tooSlow(): void;
  fail(error: unknown): void;
}

/**
 * Records read at once for a filtered session. Each takes about 30 µs of the event-loop time that
 * all clients share (TurnBudget).
 */
const MAX_FILTERED_RECORDS = 32;

const PART = '{"type":"part"}';
const NO_LISTS = Buffer.from('{"explanations":{}}}');
/** At least the length of the fields `parts` and `snapshot` in a message. */
const PARTS_BYTES = 40;

type Records = Extract<BacklogPart, { kind: "records" }>;

/** The client has a cursor of its own and catches up from the log whenever its socket has room. */
interface Behind {
  readonly kind: "behind";
  readonly shape: StreamShape;
  /** The lists at `seq`, for a filtered shape, once they have been read. */
  walk: ListWalk | undefined;
  /** Every event of the shape up to here was written or skipped. */
  seq: Seq;
  /**
   * Channels with skipped events, which the lists at the head will replace. `undefined` if no
   * events are being skipped.
   */
  conflating: ChannelMask | undefined;
  /** Seq to send as `prev` with the next event. */
  prev: Seq;
  /** The socket is full, and a `drained` call will follow. */
  full: boolean;
  reading: boolean;
  /** When the socket was last seen to make progress, or became full. */
  progressAtMs: number;
  /** `Socket.progress` at that time. */
  progress: number;
}

/** In a group, the client has everything up to the head, and the group sends the rest. */
type DeliveryState = Group | Behind | { readonly kind: "ended" };

/**
 * Brings one client to the head of the log. A client that keeps up costs one write per batch, made
 * by its group. A client that does not read costs a few numbers here, besides what its socket has
 * already buffered.
 */
export class Delivery implements GroupMember {
  slot = 0;
  /** Whether to conflate a long backlog (PROTOCOL.md, W34). */
  latest = false;
  /** Bytes that a message with lists should not exceed (PROTOCOL.md, W46). */
  maxMessage: number | undefined;
  readonly socket: Socket;
  readonly framing: Framing;
  readonly #host: DeliveryHost;
  readonly #owner: DeliveryOwner;
  #state: DeliveryState;

  /** Starts at the head, without channels. */
  constructor(host: DeliveryHost, socket: Socket, framing: Framing, owner: DeliveryOwner) {
    this.#host = host;
    this.socket = socket;
    this.framing = framing;
    this.#owner = owner;
    this.#state = this.#join(NOT_SUBSCRIBED, host.head.cursor.seq);
  }

  /** Whether the client is at the head. Only then can it be sent a snapshot and its cursor. */
  get isLive(): boolean {
    return this.#state.kind === "live";
  }

  get lag(): number {
    return this.#state.kind === "behind" ? Math.max(0, this.#host.head.cursor.seq - this.#state.seq) : 0;
  }

  /** Whether a message would be sent now, not queued behind unread data. */
  get hasRoom(): boolean {
    return this.#state.kind === "live" || (this.#state.kind === "behind" && !this.#state.full);
  }

  /** Sends one message, in order. `lists`: see Framing. */
  write(json: string, lists?: Buffer): void {
    if (this.#state.kind === "ended") return;
    if (lists) this.#send(...this.framing.withLists(json, lists));
    else this.#send(this.framing.message(json));
  }

  /**
   * Sends a message with the lists of these channels at the head: in parts if it would exceed
   * `maxMessage`.
   */
  writeLists(json: string, of: readonly SelectionPart[], maxMessage: number | undefined): void {
    // Rounded to a power of two, so that clients share the texts.
    const limit = maxMessage && 1 << (31 - Math.clz32(maxMessage));
    const ends = this.#host.history.listEnds(of, limit && limit - PARTS_BYTES);
    const last = ends.at(-1) ?? NO_LISTS;
    const fits = !limit || Buffer.byteLength(json) + last.length - 1 + PARTS_BYTES <= limit;
    const parts = fits ? ends.slice(0, -1) : ends;
    for (const end of parts) this.write(PART, end);
    const count = parts.length > 0 ? `,"parts":${parts.length}}` : "}";
    this.write(json.slice(0, -1) + count, fits ? last : NO_LISTS);
  }

  /**
   * Switches to these channels at the head. Other classes may call it only while {@link isLive},
   * because it drops the client's backlog.
   */
  move(selection: Selection): void {
    this.#leave();
    this.#state = this.#join(selection, this.#host.head.cursor.seq);
  }

  /**
   * Resumes these channels after a cursor. Calls `respond` once the answer is known, then sends the
   * events. If events are lost, the client becomes live, without channels.
   */
  resume(selection: Selection, after: Cursor, respond: (lost: Lost | undefined) => void): void {
    this.#leave();
    const behind = this.#becomeBehind(createShape(selection, this.framing), after.seq, after.seq);
    this.#read(behind, after, (result) => {
      if (result.kind === "lost") this.move(NOT_SUBSCRIBED);
      respond(result.kind === "lost" ? result.lost : undefined);
      if (result.kind === "lost") this.#owner.ready();
      else this.#deliver(behind, result);
    });
  }

  /** Continues sending. Called when the socket has room again. */
  drained(): void {
    if (this.#state.kind !== "behind") return;
    this.#state.full = false;
    this.#owner.ready();
    this.#catchUp();
  }

  /**
   * Reports the client as too slow if its full socket makes no progress or its cursor has expired.
   * Called about once a second while it is behind.
   */
  check(nowMs: number): void {
    const state = this.#state;
    if (state.kind !== "behind" || !state.full || state.reading) return;
    const { progress } = this.socket;
    if (progress !== state.progress) {
      state.progress = progress;
      state.progressAtMs = nowMs;
    }
    const { limits, log } = this.#host;
    const oldest = this.#needsOnlyLasting(state.shape) ? log.oldestLasting : log.oldest;
    if (nowMs - state.progressAtMs >= limits.noProgressMs || state.seq < oldest.seq) this.#owner.tooSlow();
  }

  end(): void {
    this.#leave();
    this.#state = { kind: "ended" };
  }

  fallBehind(prev: Seq): void {
    if (this.#state.kind !== "live") return;
    const { shape } = this.#state;
    this.#leave();
    const behind = this.#becomeBehind(shape, this.#host.head.cursor.seq, prev);
    behind.full = true;
    this.socket.awaitDrain();
    if (shape.selection.filtered) behind.walk = this.#host.history.walkFrom(this.#host.history.lists);
  }

  fail(error: unknown): void {
    this.#owner.fail(error);
  }

  #join(selection: Selection, prev: Seq): Group {
    return this.#host.join(this, selection, this.framing, prev);
  }

  #leave(): void {
    if (this.#state.kind === "live") this.#host.leave(this, this.#state);
    if (this.#state.kind === "behind") this.#owner.watchBehind(false);
  }

  #becomeBehind(shape: StreamShape, seq: Seq, prev: Seq): Behind {
    const behind: Behind = {
      kind: "behind",
      shape,
      walk: undefined,
      conflating: undefined,
      seq,
      prev,
      full: false,
      reading: false,
      progressAtMs: this.#host.monotonicMs(),
      progress: this.socket.progress,
    };
    this.#state = behind;
    this.#owner.watchBehind(true);
    return behind;
  }

  #send(bytes: Buffer, shared?: Buffer): void {
    if (this.socket.write(bytes, shared)) return;
    const state = this.#state;
    if (state.kind === "live") this.fallBehind(state.prev);
    if (state.kind !== "behind") return;
    state.full = true;
    state.progressAtMs = this.#host.monotonicMs();
    state.progress = this.socket.progress;
  }

  /** Continues from the client's cursor if the socket has room. Joins the group at the head. */
  #catchUp(): void {
    const state = this.#state;
    if (state.kind !== "behind" || state.full || state.reading) return;
    const { cursor } = this.#host.head;
    if (state.seq >= cursor.seq) {
      this.#sendLists(state);
      if (state.full) return;
      this.#leave();
      this.#state = this.#join(state.shape.selection, state.prev);
      this.#owner.ready();
      return;
    }
    this.#read(state, this.#host.log.cursorAt(state.seq), (result) => {
      if (result.kind === "lost") this.#owner.tooSlow();
      else this.#deliver(state, result);
    });
  }

  #deliver(state: Behind, part: Records): void {
    const { head, limits } = this.#host;
    if (this.latest && head.cursor.seq - state.seq >= limits.conflateFrom) state.conflating ??= 0n;
    // The log no longer has all events after the cursor. Those that it dropped may have been on any
    // channel.
    if (this.latest && part.sparse) state.conflating = state.shape.selection.mask;
    // The socket filled up meanwhile. These records are read again once it has room.
    if (state.full) return;
    // The log may be ahead of the head's state. Those events come with the next batch.
    const published = part.records.filter(({ seq }) => seq <= head.cursor.seq);
    if (state.conflating === undefined) this.#writeRecords(state, published, part.sparse);
    else this.#writeMissed(state, published, state.conflating);
    if (state.seq >= (published.at(-1)?.seq ?? 0)) state.seq = throughOf(part, head.cursor.seq);
    this.#catchUp();
  }

  /** Writes only the records that must not be skipped. */
  #writeMissed(state: Behind, records: readonly LogRecord[], mask: ChannelMask): void {
    const { limits } = this.#host;
    const from = { through: state.seq };
    const frames = frameMissed(records, state.shape, from, state.walk, limits.catchUpBytes);
    state.seq = frames.through;
    state.conflating = mask | frames.mask;
    if (frames.bytes) this.#send(frames.bytes);
  }

  /** At the head, sends the lists in place of the skipped events. */
  #sendLists(state: Behind): void {
    if (state.conflating === undefined) return;
    const { head } = this.#host;
    const { mask: followed, parts } = state.shape.selection;
    const mask = conflatedMask(state.conflating, followed);
    state.conflating = undefined;
    if (mask === 0n) return;
    this.#host.counters.conflations += 1;
    state.prev = head.cursor.seq;
    const changed = parts.map((part) => ({ ...part, mask: part.mask & mask }));
    this.writeLists(conflatedText(head.cursor, channelsOf(mask)), changed, this.maxMessage);
  }

  #read(state: Behind, after: Cursor, then: (result: BacklogPart) => void): void {
    state.reading = true;
    this.#readFrom(state, after)
      .then((result) => this.#host.turn.run(() => this.#finishRead(state, result, then)))
      .catch((error) => this.#owner.fail(error));
  }

  #finishRead(state: Behind, result: BacklogPart, then: (result: BacklogPart) => void): void {
    state.reading = false;
    if (this.#state !== state) return;
    try {
      then(result);
    } catch (error) {
      this.#owner.fail(error);
    }
  }

  /** Reads records, and lists for a filtered shape. Records without their lists count as lost. */
  async #readFrom(state: Behind, after: Cursor): Promise<BacklogPart> {
    const { log, limits, history, turn } = this.#host;
    const { filtered } = state.shape.selection;
    const lasting = this.#needsOnlyLasting(state.shape);
    const limit = filtered ? Math.min(limits.catchUpRecords, MAX_FILTERED_RECORDS) : limits.catchUpRecords;
    const result = await readBacklog(log, after, limit, lasting);
    if (result.kind === "lost" || state.walk || !filtered) return result;
    const lists = await history.at(after, () => turn.pause());
    if (!lists) return { kind: "lost", lost: { reason: "expired", events: log.head.seq - after.seq } };
    state.walk = history.walkFrom(lists);
    return result;
  }

  /**
   * True if the shape selects only lasting events, or lists at the head will replace the others.
   * False for a filtered shape: every event may change which items it selects.
   */
  #needsOnlyLasting({ selection }: StreamShape): boolean {
    return !selection.filtered && (this.latest || selection.lasting);
  }

  #writeRecords(state: Behind, records: readonly LogRecord[], sparse: boolean): void {
    const frames = this.#frame(state, records, sparse);
    state.seq = frames.through;
    state.prev = frames.prev;
    if (!frames.bytes) return;
    this.#host.counters.deliveries += frames.count;
    this.#host.counters.deliveredBytes += frames.bytes.length;
    this.#send(frames.bytes);
  }

  #frame({ prev, seq, shape, walk }: Behind, records: readonly LogRecord[], sparse: boolean): EventFrames {
    const { head, limits, backlogFrames } = this.#host;
    const { epoch } = head.cursor;
    const from = { prev, through: seq };
    // Filtered frames depend on the lists before them, and sparse ones on the gaps, so only others
    // are cached.
    if (!walk && !sparse) return backlogFrames.frame(records, shape, { ...from, epoch }, limits.catchUpBytes);
    const position = { ...from, heads: new EventHeadCache(epoch) };
    return frameEvents(records, shape, position, walk, limits.catchUpBytes);
  }
}
