import { isDeepStrictEqual } from "node:util";
import { type Channel, matchChannels } from "../../../src/base/protocol/index.ts";
import type { Gateway } from "../../../src/index.ts";
import { shownLists } from "../../support/expect/shown-lists.ts";

/*
 * The expected state of the clients of a run, without the gateway's delivery: from the market's own
 * snapshots and the order of the events in the embedding program. Filters are implemented again
 * here, from PROTOCOL.md (W27, W28).
 */

type Item = Record<string, unknown> & { readonly id: string };
type Lists = Record<string, Record<string, Item[]>>;

/** A client's subscription, as parameters of the address. */
export interface Wanted {
  /** Channels by name, separated by commas, or `*`. */
  readonly channels: string;
  readonly min_liquidity?: string;
  readonly min_price_change?: string;
  /** Keeps an item after it once matched the filter (rule W40). */
  readonly sticky?: "true";
}

/** Channels to which the filters of the scenario apply. */
export const FILTERED_CHANNELS = "flares.free,flares.pro,flares.finished,newest.bsc";

/** Maximum values since the item entered its list. */
interface Marks {
  readonly liquidity: number;
  readonly change: number;
}
type MarksOfLists = ReadonlyMap<string, Marks>;

/** Channels that `*` selects. */
const ALL: ReadonlySet<string> = new Set<Channel>(matchChannels("*"));

/** The published log, and the market's state at each recorded position. */
export class Truth {
  readonly #channels: string[] = [];
  readonly #states = new Map<number, Moment>();
  #marks: MarksOfLists = new Map();

  /** Records the gateway's events, from its base on. */
  constructor({ head, events }: Gateway) {
    this.#note(head.cursor.seq, shownLists(head.snapshot));
    events.on("event", ({ channel, cursor }) => {
      this.#channels.push(channel);
      if (seqOf(cursor) !== this.#channels.length)
        throw new Error(`${cursor} is event ${this.#channels.length}`);
      // The head moves by whole batches, so this is the state after the last event of this one.
      if (!this.#states.has(head.cursor.seq)) this.#note(head.cursor.seq, shownLists(head.snapshot));
    });
  }

  /** Number of events so far. */
  get length(): number {
    return this.#channels.length;
  }

  /** Returns the seqs of these channels' events after `after` and before `until`. */
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
   * Whether a client's state at this position is the expected selection. `undefined` in the middle
   * of a batch.
   */
  matches(seq: number, wanted: Wanted, view: unknown): boolean | undefined {
    const known = this.#states.get(seq);
    if (!known) return undefined;
    known.sent ??= JSON.parse(JSON.stringify(known.state)) as Lists;
    const { sent, marks } = known;
    return isDeepStrictEqual(view, wanted.channels === "*" ? sent : project(sent, marks, wanted));
  }

  #note(seq: number, snapshot: unknown): void {
    const state = snapshot as Lists;
    this.#marks = updateMarks(state, this.#marks);
    this.#states.set(seq, { state, marks: this.#marks });
  }
}

/** The market at a position of the log. */
interface Moment {
  readonly state: Lists;
  readonly marks: MarksOfLists;
  /** The state after a conversion to JSON and back, created on demand. */
  sent?: Lists;
}

/** Returns the seq of a cursor. Only a test may parse cursors. */
export function seqOf(cursor: unknown): number {
  return Number(String(cursor).split("-")[1]);
}

function updateMarks(state: Lists, before: MarksOfLists): MarksOfLists {
  const marks = new Map<string, Marks>();
  for (const [resource = "", name = ""] of FILTERED_CHANNELS.split(",").map(listOf)) {
    for (const item of state[resource]?.[name] ?? []) {
      const key = `${resource} ${name} ${item.id}`;
      const { liquidity, change } = before.get(key) ?? {
        liquidity: Number.NEGATIVE_INFINITY,
        change: Number.NEGATIVE_INFINITY,
      };
      const now = marksOf(resource, item);
      marks.set(key, {
        liquidity: Math.max(liquidity, now.liquidity),
        change: Math.max(change, now.change),
      });
    }
  }
  return marks;
}

/** Returns the current values of an item. A listing has no price change. */
function marksOf(resource: string, item: Lists[string][string][number]): Marks {
  const change = resource === "flares" ? Number(item.recent_price_change) : Number.NEGATIVE_INFINITY;
  return { liquidity: Number(item.liquidity), change };
}

function project(state: Lists, marks: MarksOfLists, wanted: Wanted): unknown {
  const view: Lists = {};
  for (const channel of wanted.channels.split(",").filter((one) => one !== "status")) {
    const [resource = "", name = ""] = listOf(channel);
    const list = state[resource]?.[name] ?? [];
    const selected = isFilter(wanted)
      ? list.filter((item) =>
          passes(
            wanted.sticky ? marks.get(`${resource} ${name} ${item.id}`) : marksOf(resource, item),
            wanted,
          ),
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

function listOf(channel: string): readonly string[] {
  return channel === "flares.finished" ? ["flares", "finished_trending"] : channel.split(".");
}

function passes(marks: Marks | undefined, wanted: Wanted): boolean {
  const { min_liquidity = "0", min_price_change = "-Infinity" } = wanted;
  return !!marks && marks.liquidity >= Number(min_liquidity) && marks.change >= Number(min_price_change);
}

/** Whether the subscription excludes items of its channels. */
export function isFilter({ min_liquidity, min_price_change }: Wanted): boolean {
  return min_liquidity !== undefined || min_price_change !== undefined;
}
