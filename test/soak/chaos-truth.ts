import { isDeepStrictEqual } from "node:util";
import type { Gateway } from "../../src/index.ts";
import { type Channel, matchChannels } from "../../src/protocol/index.ts";
import { shownLists } from "../support/shown-lists.ts";

/*
 * What a client of the run must hold, known without any of the gateway's delivery: the market's own
 * snapshots, and the order in which the embedding program received the events. Filters are
 * judged again here, from PROTOCOL.md (W27, W28).
 */

type Item = Record<string, unknown> & { readonly id: string };
type Lists = Record<string, Record<string, Item[]>>;

/** What a client asks for, as parameters of the address. */
export interface Wanted {
  /** Channels by name, separated by commas, or `*`. */
  readonly channels: string;
  readonly min_liquidity?: string;
  readonly min_price_change?: string;
  /** An item that once met the filter stays (rule W40). */
  readonly sticky?: "true";
}

/** Channels whose items the filters of the scenario are about. */
export const FILTERED_CHANNELS = "flares.free,flares.pro,flares.finished,newest.bsc";

/** The highest that was stated since the item entered its list. */
interface Marks {
  readonly liquidity: number;
  readonly change: number;
}
type MarksOfLists = ReadonlyMap<string, Marks>;

/** What `*` selects. */
const ALL: ReadonlySet<string> = new Set<Channel>(matchChannels("*"));

/** The log as it was published, and the state at each place where the market was looked at. */
export class Truth {
  readonly #channels: string[] = [];
  readonly #states = new Map<number, Slot>();
  #marks: MarksOfLists = new Map();

  /** Notes what the gateway tells, from its base on. */
  constructor({ head, events }: Gateway) {
    this.#note(head.cursor.seq, shownLists(head.snapshot));
    events.on("event", ({ channel, cursor }) => {
      this.#channels.push(channel);
      if (seqOf(cursor) !== this.#channels.length)
        throw new Error(`${cursor} is event ${this.#channels.length}`);
      // The head moves by whole batches: it is the state behind the last event of this one.
      if (!this.#states.has(head.cursor.seq)) this.#note(head.cursor.seq, shownLists(head.snapshot));
    });
  }

  /** Events so far. */
  get length(): number {
    return this.#channels.length;
  }

  /** Seqs of the events of these channels that lie behind `after` and before `until`. */
  between(channels: string, after: number, until: number): readonly number[] {
    const wanted = channels.split(",");
    const found: number[] = [];
    for (let seq = after + 1; seq < until; seq += 1) {
      const channel = this.#channels[seq - 1] ?? "";
      if (channels === "*" ? ALL.has(channel) : wanted.includes(channel)) found.push(seq);
    }
    return found;
  }

  /**
   * Whether what a client holds at this place is what it wanted of the lists there; `undefined` in
   * the middle of a batch.
   */
  isHeld(seq: number, wanted: Wanted, held: unknown): boolean | undefined {
    const known = this.#states.get(seq);
    if (!known) return undefined;
    known.sent ??= JSON.parse(JSON.stringify(known.state)) as Lists;
    const { sent, marks } = known;
    return isDeepStrictEqual(held, wanted.channels === "*" ? sent : project(sent, marks, wanted));
  }

  #note(seq: number, snapshot: unknown): void {
    const state = snapshot as Lists;
    this.#marks = remark(state, this.#marks);
    this.#states.set(seq, { state, marks: this.#marks });
  }
}

/** What is known of the market at a place of the log. */
interface Slot {
  readonly state: Lists;
  readonly marks: MarksOfLists;
  /** The state as it is when it has gone through JSON; made when it is asked for. */
  sent?: Lists;
}

/** The seq of a cursor; the one thing about it that only a test may know. */
export function seqOf(cursor: unknown): number {
  return Number(String(cursor).split("-")[1]);
}

function remark(state: Lists, before: MarksOfLists): MarksOfLists {
  const marks = new Map<string, Marks>();
  for (const [resource = "", name = ""] of FILTERED_CHANNELS.split(",").map(placeOf)) {
    for (const item of state[resource]?.[name] ?? []) {
      const key = `${resource} ${name} ${item.id}`;
      const { liquidity, change } = before.get(key) ?? {
        liquidity: Number.NEGATIVE_INFINITY,
        change: Number.NEGATIVE_INFINITY,
      };
      const now = stated(resource, item);
      marks.set(key, {
        liquidity: Math.max(liquidity, now.liquidity),
        change: Math.max(change, now.change),
      });
    }
  }
  return marks;
}

/** What an item says of itself now. A listing states no price change. */
function stated(resource: string, item: Lists[string][string][number]): Marks {
  const change = resource === "flares" ? Number(item.recent_price_change) : Number.NEGATIVE_INFINITY;
  return { liquidity: Number(item.liquidity), change };
}

function project(state: Lists, marks: MarksOfLists, wanted: Wanted): unknown {
  const view: Lists = {};
  for (const channel of wanted.channels.split(",").filter((one) => one !== "status")) {
    const [resource = "", name = ""] = placeOf(channel);
    const list = state[resource]?.[name] ?? [];
    const selected = isFilter(wanted)
      ? list.filter((item) =>
          isMet(wanted.sticky ? marks.get(`${resource} ${name} ${item.id}`) : stated(resource, item), wanted),
        )
      : list;
    view[resource] = { ...view[resource], [name]: selected };
  }
  const listed = new Set(Object.values(view.flares ?? {}).flatMap((list) => list.map(({ id }) => id)));
  const whys = Object.entries(state.explanations ?? {}).filter(([id]) => listed.has(id));
  const explained = { ...view, explanations: Object.fromEntries(whys) };
  const finished = view.flares?.finished_trending?.map(({ id }) => id);
  const outcomes = Object.entries(state.outcomes ?? {}).filter(([id]) => finished?.includes(id));
  return finished ? { ...explained, outcomes: Object.fromEntries(outcomes) } : explained;
}

function placeOf(channel: string): readonly string[] {
  return channel === "flares.finished" ? ["flares", "finished_trending"] : channel.split(".");
}

function isMet(marks: Marks | undefined, wanted: Wanted): boolean {
  const { min_liquidity = "0", min_price_change = "-Infinity" } = wanted;
  return !!marks && marks.liquidity >= Number(min_liquidity) && marks.change >= Number(min_price_change);
}

/** Whether not all items of its channels are wanted. */
export function isFilter({ min_liquidity, min_price_change }: Wanted): boolean {
  return min_liquidity !== undefined || min_price_change !== undefined;
}
