import type { LogRecord } from "../../log/event-log.ts";
import type { Cursor, Lost, Seq } from "../../protocol/index.ts";
import { type ChannelMask, channelsOf } from "../channel-mask.ts";
import type { GroupMember } from "../group.ts";
import { conflatedMask, conflatedText, frameMissed } from "../lists/conflate.ts";
import { NOT_SUBSCRIBED, type Selection } from "../session/selection.ts";
import type { DeliveryHost } from "../session/session-host.ts";
import type { Socket } from "../session/socket.ts";
import { createShape, type StreamShape } from "../session/stream-shape.ts";
import { type BacklogPart, readBacklog, throughOf } from "./backlog.ts";
import type { Behind, DeliveryState, Live } from "./delivery-state.ts";
import { type EventFrames, FramePrefixes, frameEvents } from "./event-frames.ts";
import type { Framing } from "./framing.ts";

/** What a delivery tells the session that it belongs to. */
export interface DeliveryOwner {
  /** More can be answered than before: there is room again, or the head is reached. */
  ready(): void;
  /** It has to be looked at by `check`, or no longer. */
  watchBehind(on: boolean): void;
  /** The client takes too little: it stands still, or its cursor is no longer held. */
  tooSlow(): void;
  fail(error: unknown): void;
}

/** Records read at once for a filtered session: each costs some 30 µs, and the turn is shared. */
const MAX_FILTERED_RECORDS = 32;

type Records = Extract<BacklogPart, { kind: "records" }>;

/**
 * One client's place in the log, and the way from there to the head. A client that reads is in a group and costs one write per
 * batch; one that does not costs a few numbers here, whatever happens in the log.
 */
export class Delivery implements GroupMember {
  /** See GroupMember. */
  slot = 0;
  /** A long backlog is conflated: see W34. */
  latest = false;
  /** See GroupMember. */
  readonly socket: Socket;
  readonly #host: DeliveryHost;
  readonly #framing: Framing;
  readonly #owner: DeliveryOwner;
  #state: DeliveryState;

  /** Begins at the head, with no channels. */
  constructor(host: DeliveryHost, socket: Socket, framing: Framing, owner: DeliveryOwner) {
    this.#host = host;
    this.socket = socket;
    this.#framing = framing;
    this.#owner = owner;
    this.#state = this.#join(NOT_SUBSCRIBED, host.head.cursor.seq);
  }

  /** At the head: a place can be given to the client, and with it a snapshot. */
  get isLive(): boolean {
    return this.#state.kind === "live";
  }

  /** How many events the log has behind its place. */
  get lag(): number {
    return this.#state.kind === "behind" ? Math.max(0, this.#host.head.cursor.seq - this.#state.seq) : 0;
  }

  /** A message would not only be added to what the client does not take. */
  get hasRoom(): boolean {
    return this.#state.kind === "live" || (this.#state.kind === "behind" && !this.#state.full);
  }

  /** Sends one message, given as JSON text, behind what was sent before. `snapshot`: see Framing. */
  write(json: string, snapshot?: string): void {
    if (this.#state.kind !== "ended") this.#send(this.#framing.message(json, snapshot));
  }

  /** Goes on with these channels, from the head. Only while {@link isLive}. */
  move(selection: Selection): void {
    this.#leave();
    this.#state = this.#join(selection, this.#host.head.cursor.seq);
  }

  /**
   * Goes on with these channels from behind `after`, a cursor below the head or of another log. Calls `then` when it is known
   * whether that is possible, and sends the events behind what `then` writes; with `lost` it is live, with no channels, instead.
   */
  resume(selection: Selection, after: Cursor, then: (lost: Lost | undefined) => void): void {
    this.#leave();
    const behind = this.#becomeBehind(createShape(selection, this.#framing), after.seq, after.seq);
    this.#read(behind, after, (result) => {
      if (result.kind === "lost") this.move(NOT_SUBSCRIBED);
      then(result.kind === "lost" ? result.lost : undefined);
      if (result.kind === "lost") this.#owner.ready();
      else this.#goOn(behind, result);
    });
  }

  /** The socket has room again. */
  drained(): void {
    if (this.#state.kind !== "behind") return;
    this.#state.full = false;
    this.#owner.ready();
    this.#catchUp();
  }

  /** Finds out whether the client stands still; called about once a second while it is behind. */
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

  /** Sends nothing more. */
  end(): void {
    this.#leave();
    this.#state = { kind: "ended" };
  }

  /** See GroupMember. */
  fallBehind(prev: Seq): void {
    if (this.#state.kind !== "live") return;
    const { shape } = this.#state.group;
    this.#leave();
    const behind = this.#becomeBehind(shape, this.#host.head.cursor.seq, prev);
    behind.full = true;
    if (shape.selection.filtered) behind.walk = this.#host.history.walkFrom(this.#host.history.lists);
  }

  /** See GroupMember. */
  fail(error: unknown): void {
    this.#owner.fail(error);
  }

  #join(selection: Selection, prev: Seq): Live {
    return { kind: "live", group: this.#host.join(this, selection, this.#framing, prev) };
  }

  #leave(): void {
    if (this.#state.kind === "live") this.#host.leave(this, this.#state.group);
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

  #send(bytes: Buffer): void {
    if (this.socket.write(bytes)) return;
    const state = this.#state;
    if (state.kind === "live") this.fallBehind(state.group.prev);
    if (state.kind !== "behind") return;
    state.full = true;
    state.progressAtMs = this.#host.monotonicMs();
    state.progress = this.socket.progress;
  }

  /** Goes on from its cursor if the socket has room, and joins its group where that is the head. */
  #catchUp(): void {
    const state = this.#state;
    if (state.kind !== "behind" || state.full || state.reading) return;
    const { cursor } = this.#host.head;
    if (state.seq >= cursor.seq) {
      this.#conclude(state);
      if (state.full) return;
      this.#leave();
      this.#state = this.#join(state.shape.selection, state.prev);
      this.#owner.ready();
      return;
    }
    this.#read(state, this.#host.log.cursorAt(state.seq), (result) => {
      if (result.kind === "lost") this.#owner.tooSlow();
      else this.#goOn(state, result);
    });
  }

  #goOn(state: Behind, part: Records): void {
    const { head, limits } = this.#host;
    if (this.latest && head.cursor.seq - state.seq >= limits.conflateFrom) state.conflating ??= 0;
    // What was left out here nobody knows: it may have been anything.
    if (this.latest && part.sparse) state.conflating = state.shape.selection.mask;
    // What was read while the socket filled up is read again when it has room.
    if (state.full) return;
    // The log may hold more already than the head's state contains; that comes with the next batch.
    const published = part.records.filter(({ seq }) => seq <= head.cursor.seq);
    if (state.conflating === undefined) this.#writeRecords(state, published, part.sparse);
    else this.#writeMissed(state, published, state.conflating);
    if (state.seq >= (published.at(-1)?.seq ?? 0)) state.seq = throughOf(part, head.cursor.seq);
    this.#catchUp();
  }

  /** Of the records only what may not be left out. */
  #writeMissed(state: Behind, records: readonly LogRecord[], mask: ChannelMask): void {
    const { limits } = this.#host;
    const from = { through: state.seq };
    const frames = frameMissed(records, state.shape, from, state.walk, limits.catchUpBytes);
    state.seq = frames.through;
    state.conflating = mask | frames.mask;
    if (frames.bytes) this.#send(frames.bytes);
  }

  /** At the head: sends the lists in place of what was left out. */
  #conclude(state: Behind): void {
    if (state.conflating === undefined) return;
    const { head, history } = this.#host;
    const { mask: followed, parts } = state.shape.selection;
    const mask = conflatedMask(state.conflating, followed);
    state.conflating = undefined;
    if (mask === 0) return;
    this.#host.tally.conflations += 1;
    state.prev = head.cursor.seq;
    const lists = history.snapshotText(parts.map((part) => ({ ...part, mask: part.mask & mask })));
    this.write(conflatedText(head.cursor, channelsOf(mask)), lists);
  }

  #read(state: Behind, after: Cursor, then: (result: BacklogPart) => void): void {
    state.reading = true;
    this.#readFrom(state, after)
      .then((result) => this.#host.turn.run(() => this.#take(state, result, then)))
      .catch((error) => this.#owner.fail(error));
  }

  #take(state: Behind, result: BacklogPart, then: (result: BacklogPart) => void): void {
    state.reading = false;
    if (this.#state !== state) return;
    try {
      then(result);
    } catch (error) {
      this.#owner.fail(error);
    }
  }

  /** The records, and where the shape is filtered and the lists are not there yet, the lists too: without them the records are lost on it. */
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

  /** Nothing else belongs to it, or the lists at the head say the rest. */
  #needsOnlyLasting({ selection }: StreamShape): boolean {
    return !selection.filtered && (this.latest || selection.lasting);
  }

  #writeRecords(state: Behind, records: readonly LogRecord[], sparse: boolean): void {
    const frames = this.#frame(state, records, sparse);
    state.seq = frames.through;
    state.prev = frames.prev;
    if (!frames.bytes) return;
    this.#host.tally.deliveries += frames.count;
    this.#host.tally.deliveredBytes += frames.bytes.length;
    this.#send(frames.bytes);
  }

  #frame({ prev, seq, shape, walk }: Behind, records: readonly LogRecord[], sparse: boolean): EventFrames {
    const { head, limits, backlogFrames } = this.#host;
    const { epoch } = head.cursor;
    const from = { prev, through: seq };
    // What is filtered depends on the lists on the way, and what has gaps on what was left out.
    if (!walk && !sparse) return backlogFrames.frame(records, shape, { ...from, epoch }, limits.catchUpBytes);
    return frameEvents(
      records,
      shape,
      { ...from, heads: new FramePrefixes(epoch) },
      walk,
      limits.catchUpBytes,
    );
  }
}
