import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import type { Notify } from "../../../base/lib/notify.ts";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import {
  advanceLists,
  ChangeMismatch,
  type Cursor,
  createMeasure,
  type EventBody,
  joinViews,
  type Lists,
  listsOf,
  projectLists,
  type Seq,
  type Snapshot,
  type Step,
  splitView,
  toSeq,
} from "../../../base/protocol/index.ts";
import type { EventLog, LogRecord } from "../../log/event-log.ts";
import { checkpointInterval } from "../../log/event-log.ts";
import { channelsOf } from "../channel-mask.ts";
import { type SelectionPart, selectionOf } from "../session/selection.ts";
import { ListWalk } from "./list-walk.ts";
import { StepCache } from "./step-cache.ts";

/**
 * Records replayed at once between a checkpoint and a cursor: they take less than a millisecond.
 */
const READ_RECORDS = 16;
/** Maximum cached ends of messages. Clients request few selections. */
const MAX_CACHED_ENDS = 32;

/** The lists at one seq of the log. */
export interface ListCheckpoint {
  readonly seq: Seq;
  /** Reads the lists; stored ones are parsed on each call. Throws if they are unreadable. */
  lists(): Lists;
}

/** Stored lists of a restored log. */
export interface KnownLists {
  /** The lists at the log's head. */
  readonly lists: Lists;
  readonly checkpoints: readonly ListCheckpoint[];
}

/**
 * Computes the lists at any seq by replaying the log from checkpoints, which share unchanged items.
 */
export class ListHistory {
  readonly #log: EventLog;
  readonly #notify: Notify | undefined;
  readonly #ends = new BoundedMap<string, readonly Buffer[]>(MAX_CACHED_ENDS);
  #measure = createMeasure();
  #steps = new StepCache();
  #checkpoints: ListCheckpoint[];
  #lists: Lists;
  #seq: Seq;
  #seqWithoutMarks: Seq | undefined;

  /**
   * Starts at the log's head with `snapshot`, or the `known` lists of a restored log. Those include
   * marks, the values by which filters select items.
   */
  constructor(log: EventLog, snapshot: Snapshot, known?: KnownLists, notify?: Notify) {
    this.#log = log;
    this.#notify = notify;
    const lists = known?.lists ?? listsOf(snapshot);
    this.#lists = lists;
    this.#seq = log.head.seq;
    const before = known?.checkpoints.filter(({ seq }) => seq >= log.oldest.seq && seq < this.#seq) ?? [];
    this.#checkpoints = [...before, { seq: this.#seq, lists: () => lists }];
    this.#seqWithoutMarks = this.#seq > 0 && !known ? this.#seq : undefined;
  }

  get lists(): Lists {
    return this.#lists;
  }

  /** The checkpoints before the head. */
  get checkpoints(): readonly ListCheckpoint[] {
    return this.#checkpoints.filter(({ seq }) => seq < this.#seq);
  }

  /** The oldest readable checkpoint. */
  get first(): { readonly cursor: Cursor; readonly lists: Lists } {
    for (const checkpoint of this.#checkpoints) {
      const lists = this.#read(checkpoint);
      if (lists) return { cursor: this.#log.cursorAt(checkpoint.seq), lists };
    }
    return { cursor: this.#log.cursorAt(this.#seq), lists: this.#lists };
  }

  /** Whether a restored log has only a snapshot at `seq`, without marks. */
  lacksMarks(seq: Seq): boolean {
    return seq === this.#seqWithoutMarks;
  }

  /**
   * Applies a batch and returns its steps or, without events, replaces the lists. Throws
   * ChangeMismatch, changing nothing, if an event does not fit.
   */
  advance(records: readonly LogRecord[], events: readonly EventBody[], snapshot: Snapshot): readonly Step[] {
    const last = records.at(-1);
    if (!last) {
      if (snapshot !== this.#lists.snapshot) this.#reset(listsOf(snapshot), this.#seq);
      return [];
    }
    let lists = this.#lists;
    const steps = events.map((event): Step => {
      const before = lists;
      lists = advanceLists(before, event);
      return { event, before, after: lists };
    });
    for (const [at, step] of steps.entries()) this.#steps.put(last.seq - steps.length + 1 + at, step);
    // Stores `snapshot` and not the equal `lists.snapshot`, because the process already holds its
    // objects.
    this.#lists = { snapshot, marks: lists.marks };
    this.#forgetEnds();
    this.#seq = last.seq;
    this.#addCheckpoint(last.seq);
    return steps;
  }

  /** Starts over with these lists, whose marks count as known, at `seq`. Earlier lists are gone. */
  restart(lists: Lists, seq: Seq): void {
    this.#seqWithoutMarks = undefined;
    this.#reset(lists, seq);
  }

  #reset(lists: Lists, seq: Seq): void {
    this.#lists = lists;
    this.#seq = seq;
    // A new cache, because walks along the earlier history still add to the old one.
    this.#steps = new StepCache();
    this.#checkpoints = [{ seq, lists: () => lists }];
    this.#forgetEnds();
  }

  #forgetEnds(): void {
    this.#ends.clear();
    this.#measure = createMeasure();
  }

  /**
   * Returns the lists at this cursor; `undefined` if they cannot be computed. Awaits `pause` after
   * each slice of a replay.
   */
  async at(cursor: Cursor, pause = async () => {}): Promise<Lists | undefined> {
    try {
      return await this.#walkTo(cursor, pause);
    } catch (error) {
      // Replaying from the checkpoint does not give these lists: an earlier process called
      // `restart` after it.
      if (error instanceof ChangeMismatch) return undefined;
      throw error;
    }
  }

  async #walkTo(to: Cursor, pause: () => Promise<void>): Promise<Lists | undefined> {
    const { epoch, seq } = to;
    const from = this.#checkpoints.findLast((checkpoint) => checkpoint.seq <= seq);
    if (this.#log.strayed(to) || !from || this.lacksMarks(seq)) return undefined;
    let start: number = seq;
    while (start > from.seq && !this.#steps.listsAfter(start)) start -= 1;
    const lists = this.#steps.listsAfter(start) ?? this.#read(from);
    if (!lists) return this.#walkTo(to, pause);
    const walk = this.walkFrom(lists);
    for (let at = this.#log.cursorAt(toSeq(start)); at.seq < seq; ) {
      const result = await this.#log.read(at, Math.min(READ_RECORDS, seq - at.seq));
      const last = result.kind === "records" ? result.records.at(-1) : undefined;
      if (result.kind === "lost" || !last) return undefined;
      for (const record of result.records) walk.next(record);
      at = { epoch, seq: last.seq, run: last.run };
      await pause();
    }
    return walk.lists;
  }

  /**
   * Reads a checkpoint. If that fails, reports and drops it: replay from the one before is still
   * possible.
   */
  #read(checkpoint: ListCheckpoint): Lists | undefined {
    try {
      return checkpoint.lists();
    } catch (error) {
      this.#checkpoints = this.#checkpoints.filter((other) => other !== checkpoint);
      const message = `dropped a damaged checkpoint of the lists; clients that filter items resume from the previous one, or get a reset: ${messageOf(error)}`;
      this.#notify?.("warn", message, { seq: checkpoint.seq });
      return undefined;
    }
  }

  /** Returns a walk along the log that starts with these lists. */
  walkFrom(lists: Lists): ListWalk {
    return new ListWalk(this.#steps, lists);
  }

  /**
   * Returns the JSON texts of these parts at the head, each with the closing brace of its message,
   * cached until the next change: one, or several of at most `maxBytes` as {@link splitView} makes
   * them.
   */
  listEnds(parts: readonly SelectionPart[], maxBytes?: number): readonly Buffer[] {
    return this.#ends.ensure(`${maxBytes} ${selectionOf(parts).key}`, () => {
      const views = parts.map(({ mask, filter }) => projectLists(this.#lists, channelsOf(mask), filter));
      const [first = joinViews([]), ...others] = views;
      const view = others.length > 0 ? joinViews(views) : first;
      // The parts of different filters and sizes share the texts of items.
      const texts =
        maxBytes === undefined ? [JSON.stringify(view)] : splitView(view, maxBytes, this.#measure);
      return texts.map((text) => Buffer.from(`${text}}`));
    });
  }

  #addCheckpoint(seq: Seq): void {
    const oldest = this.#log.oldest.seq;
    const interval = checkpointInterval(seq - oldest);
    const lists = this.#lists;
    if (seq - (this.#checkpoints.at(-1)?.seq ?? 0) >= interval)
      this.#checkpoints.push({ seq, lists: () => lists });
    // Replay from a checkpoint before the log's oldest event is impossible.
    while (this.#checkpoints[0] && this.#checkpoints[0].seq < oldest) this.#checkpoints.shift();
  }
}
