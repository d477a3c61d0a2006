import type { EventLog, LogRecord } from "../../log/event-log.ts";
import {
  advanceLists,
  ChangeMismatch,
  type Cursor,
  type EventBody,
  type Lists,
  listsOf,
  projectLists,
  type Seq,
  type Snapshot,
  type Step,
  toSeq,
  type View,
} from "../../protocol/index.ts";
import { channelsOf } from "../channel-mask.ts";
import { type SelectionPart, selectionOf } from "../session/selection.ts";
import { ListWalk } from "./list-walk.ts";
import { StepCache } from "./step-cache.ts";

/** Least number of events between two places that are kept. */
const MIN_INTERVAL = 64;
/** As many places are kept, about, of a log that is full. */
const KEPT_PLACES = 32;
/** Records read at once on the way from a kept place to the one asked for: less than a millisecond. */
const READ_RECORDS = 16;
/** Snapshot texts that are kept until the next change. */
const KEPT_TEXTS = 32;

/** A place of the log, and the lists there. */
export interface ListPlace {
  readonly seq: Seq;
  /** Those of a process before this one are read from text each time, which takes some milliseconds. Throws where they cannot be. */
  lists(): Lists;
}

/** What is known of a log that was kept. */
export interface KnownLists {
  /** At its head. */
  readonly lists: Lists;
  /** Before it, in order. */
  readonly places: readonly ListPlace[];
}

/**
 * The lists at the head, with their marks, and, for readers who come back, at any place that the log still reaches: places are
 * kept at intervals, and from there the way is gone again along the log. What two kept places have in common they share.
 */
export class ListHistory {
  readonly #log: EventLog;
  readonly #texts = new Map<string, string>();
  #steps = new StepCache();
  #kept: ListPlace[];
  #lists: Lists;
  #seq: Seq;
  #unmarkedSeq: Seq | undefined;

  /** Begins at the log's head, of which `snapshot` is the state. What is `known` of a log that was kept is the same snapshot, and more. */
  constructor(log: EventLog, snapshot: Snapshot, known?: KnownLists) {
    this.#log = log;
    const lists = known?.lists ?? listsOf(snapshot);
    this.#lists = lists;
    this.#seq = log.head.seq;
    const before = known?.places.filter(({ seq }) => seq >= log.oldest.seq && seq < this.#seq) ?? [];
    this.#kept = [...before, { seq: this.#seq, lists: () => lists }];
    this.#unmarkedSeq = this.#seq > 0 && !known ? this.#seq : undefined;
  }

  /** At the head. */
  get lists(): Lists {
    return this.#lists;
  }

  /** The places before the head from which the way along the log is gone again, in order. */
  get places(): readonly ListPlace[] {
    return this.#kept.filter(({ seq }) => seq < this.#seq);
  }

  /** The first place that is known, for those who held nothing before. */
  get first(): { readonly cursor: Cursor; readonly lists: Lists } {
    const { seq, lists } = this.#kept[0] ?? { seq: this.#seq, lists: () => this.#lists };
    return { cursor: this.#log.cursorAt(seq), lists: lists() };
  }

  /** True at the place from which a log goes on of which nothing is known but the snapshot: what its items were before is not. */
  isUnmarked(seq: Seq): boolean {
    return seq === this.#unmarkedSeq;
  }

  /** Takes in a batch of events, or a base: a state without events. `snapshot` is the state behind it. Throws ChangeMismatch when the events do not lead there. */
  advance(records: readonly LogRecord[], events: readonly EventBody[], snapshot: Snapshot): readonly Step[] {
    const last = records.at(-1);
    if (!last) {
      if (snapshot !== this.#lists.snapshot) this.#begin(listsOf(snapshot), this.#seq);
      return [];
    }
    let lists = this.#lists;
    const steps = events.map((event): Step => {
      const before = lists;
      lists = advanceLists(before, event);
      return { event, before, after: lists };
    });
    for (const [at, step] of steps.entries()) this.#steps.put(last.seq - steps.length + 1 + at, step);
    // The same value, of which the rest of the process holds the objects already.
    this.#lists = { snapshot, marks: lists.marks };
    this.#texts.clear();
    this.#seq = last.seq;
    this.#keep(last.seq);
    return steps;
  }

  /** Begins anew with these lists, which are known whole, at `seq`: what was before cannot be asked for any more. */
  restart(lists: Lists, seq: Seq): void {
    this.#unmarkedSeq = undefined;
    this.#begin(lists, seq);
  }

  #begin(lists: Lists, seq: Seq): void {
    this.#lists = lists;
    this.#seq = seq;
    // Not the same one emptied: whoever still walks along what was before puts steps into it.
    this.#steps = new StepCache();
    this.#kept = [{ seq, lists: () => lists }];
    this.#texts.clear();
  }

  /** As they were at this place of this log; `undefined` when that cannot be found out any more. `pause`: awaited now and then on a long way; default: nothing is. */
  async at(cursor: Cursor, pause = async () => {}): Promise<Lists | undefined> {
    try {
      return await this.#walkTo(cursor, pause);
    } catch (error) {
      // Events that do not lead there: see `restart`, which a process before this one may have gone through.
      if (error instanceof ChangeMismatch) return undefined;
      throw error;
    }
  }

  async #walkTo(to: Cursor, pause: () => Promise<void>): Promise<Lists | undefined> {
    const { epoch, seq } = to;
    const from = this.#kept.findLast((place) => place.seq <= seq);
    if (this.#log.strayed(to) || !from || this.isUnmarked(seq)) return undefined;
    let start: number = seq;
    while (start > from.seq && !this.#steps.behind(start)) start -= 1;
    const walk = this.walkFrom(this.#steps.behind(start) ?? from.lists());
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

  /** Follows the lists from a place where they are these. */
  walkFrom(lists: Lists): ListWalk {
    return new ListWalk(this.#steps, lists);
  }

  /** JSON text of what a client that follows these parts holds at the head; made once per change. */
  snapshotText(parts: readonly SelectionPart[]): string {
    const { key } = selectionOf(parts);
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const views = parts.map(({ mask, filter }) => projectLists(this.#lists, channelsOf(mask), filter));
    const text = JSON.stringify(mergeViews(views));
    const [oldest] = this.#texts.keys();
    if (oldest !== undefined && this.#texts.size >= KEPT_TEXTS) this.#texts.delete(oldest);
    this.#texts.set(key, text);
    return text;
  }

  #keep(seq: Seq): void {
    const oldest = this.#log.oldest.seq;
    const interval = Math.max(MIN_INTERVAL, (seq - oldest) / KEPT_PLACES);
    const lists = this.#lists;
    if (seq - (this.#kept.at(-1)?.seq ?? 0) >= interval) this.#kept.push({ seq, lists: () => lists });
    // From a place before the log's oldest there is no way on.
    while (this.#kept[0] && this.#kept[0].seq < oldest) this.#kept.shift();
  }
}

/** One view of the channels of all, none of which is in two. */
function mergeViews(views: readonly View[]): View {
  const merged: Record<string, object> = { explanations: {} };
  for (const [resource, lists] of views.flatMap((view) => Object.entries(view))) {
    merged[resource] = { ...merged[resource], ...lists };
  }
  return { explanations: {}, ...merged };
}
