import type { EventLog, LogRecord } from "../log/event-log.ts";
import {
  advanceLists,
  type Cursor,
  type EventBody,
  type Lists,
  listsOf,
  projectLists,
  type Seq,
  type Snapshot,
  type Step,
  type View,
} from "../protocol/index.ts";
import { channelsOf } from "./channel-mask.ts";
import { ListWalk } from "./list-walk.ts";
import { type SelectionPart, selectionOf } from "./selection.ts";

/** Least number of events between two places that are kept. */
const LEAST_INTERVAL = 64;
/** As many places are kept, about, of a log that is full. */
const KEPT_PLACES = 32;
/** Records read at once on the way from a kept place to the one asked for. */
const READ_RECORDS = 256;
/** Snapshot texts that are kept until the next change. */
const KEPT_TEXTS = 32;

/** Where a log goes on that was kept: what the head's items were before, at the head and at an earlier place that was kept. */
export interface Past {
  readonly lists: Lists;
  readonly earlier: { readonly seq: Seq; readonly lists: Lists };
}

/**
 * The lists at the head, with their marks, and, for readers who come back, at any place that the log still reaches: places are
 * kept at intervals, and from there the way is gone again along the log. What two kept places have in common they share.
 */
export class ListHistory {
  readonly #log: EventLog;
  readonly #texts = new Map<string, string>();
  #kept: { readonly seq: Seq; readonly lists: Lists }[];
  #lists: Lists;
  #seq: Seq;
  #unmarkedSeq: Seq | undefined;

  /** Begins at the log's head, of which `snapshot` is the state. */
  constructor(log: EventLog, snapshot: Snapshot, past?: Past) {
    this.#log = log;
    this.#lists = past?.lists ?? listsOf(snapshot);
    this.#seq = log.head.seq;
    const here = { seq: this.#seq, lists: this.#lists };
    const earlier = past?.earlier;
    const reaches = earlier && earlier.seq >= log.oldest.seq && earlier.seq < here.seq;
    this.#kept = reaches ? [earlier, here] : [here];
    this.#unmarkedSeq = this.#seq > 0 && !past ? this.#seq : undefined;
  }

  /** At the head. */
  get lists(): Lists {
    return this.#lists;
  }

  /** The first place that is known, for those who held nothing before. */
  get first(): { readonly cursor: Cursor; readonly lists: Lists } {
    const { seq, lists } = this.#kept[0] ?? { seq: this.#seq, lists: this.#lists };
    return { cursor: { epoch: this.#log.epoch, seq }, lists };
  }

  /** True at the place from which a log that was kept goes on: its lists are known, but not what their items were before. */
  isUnmarked(seq: Seq): boolean {
    return seq === this.#unmarkedSeq;
  }

  /** Takes in a batch of events, or a base: a state without events. `snapshot` is the state behind it. Throws ChangeMismatch when the events do not lead there. */
  advance(records: readonly LogRecord[], events: readonly EventBody[], snapshot: Snapshot): readonly Step[] {
    const last = records.at(-1);
    if (!last) {
      if (snapshot !== this.#lists.snapshot) this.restart(listsOf(snapshot), this.#seq);
      return [];
    }
    let lists = this.#lists;
    const steps = events.map((event): Step => {
      const before = lists;
      lists = advanceLists(before, event);
      return { event, before, after: lists };
    });
    // The same value, of which the rest of the process holds the objects already.
    this.#lists = { snapshot, marks: lists.marks };
    this.#texts.clear();
    this.#seq = last.seq;
    this.#keep(last.seq);
    return steps;
  }

  /** Begins anew with the state at `seq`: what was before cannot be asked for any more. */
  restart(lists: Lists, seq: Seq): void {
    this.#lists = lists;
    this.#unmarkedSeq = undefined;
    this.#seq = seq;
    this.#kept = [{ seq, lists: this.#lists }];
    this.#texts.clear();
  }

  /** As they were at this place of this log; `undefined` when that cannot be found out any more. */
  async at({ epoch, seq }: Cursor): Promise<Lists | undefined> {
    const from = this.#kept.findLast((place) => place.seq <= seq);
    if (!from || this.isUnmarked(seq)) return undefined;
    const walk = new ListWalk(from.lists);
    for (let at = from.seq; at < seq; ) {
      const result = await this.#log.read({ epoch, seq: at }, Math.min(READ_RECORDS, seq - at));
      const last = result.kind === "records" ? result.records.at(-1) : undefined;
      if (result.kind === "lost" || !last) return undefined;
      for (const record of result.records) walk.next(record);
      at = last.seq;
    }
    return walk.lists;
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
    const interval = Math.max(LEAST_INTERVAL, (seq - oldest) / KEPT_PLACES);
    if (seq - (this.#kept.at(-1)?.seq ?? 0) >= interval) this.#kept.push({ seq, lists: this.#lists });
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
