import { BoundedMap } from "../../../../base/lib/bounded-map.ts";
import type { GroupName } from "../../../../base/model/groups.ts";
import type { AnyFlare, Explanation, Outcome } from "../../../../base/model/index.ts";
import type { EventMessage } from "../../../sdk/index.ts";
import { channelOf, type FlareChannel, type FlareQuery, LIST_OF_CHANNEL } from "../flare-query.ts";
import type { FlareLists } from "../group/flare-lists.ts";
import { wantedFlares } from "../select-flares.ts";

/** A flare to alert about. */
export interface AlertHit {
  /** Identifies the flare's start, surge or end, the same in all tabs. */
  readonly key: string;
  readonly news: "start" | "surge" | "end";
  readonly flare: AnyFlare;
  readonly why: Explanation | undefined;
  readonly outcome: Outcome | undefined;
}

const MAX_KNOWN = 10_000;
const WATCHED = ["flare-started", "flare-updated", "flare-surged", "flare-finished"] as const;
const CHANNELS = Object.keys(LIST_OF_CHANNEL) as FlareChannel[];

/**
 * Decides which flares of a group to report: each start, surge and end that a query selects, once.
 * A flare that meets a query only later is reported then, as by a webhook.
 */
export class AlertWatch {
  readonly #known = new BoundedMap<string, true>(MAX_KNOWN);
  readonly #group: GroupName;
  #queries: readonly FlareQuery[] = [];

  constructor(group: GroupName) {
    this.#group = group;
  }

  /**
   * Sets the queries, and ignores those for other groups. Flares in the view that they already
   * select are not reported.
   */
  watchFor(queries: readonly FlareQuery[], view: FlareLists | undefined): void {
    this.#queries = queries.filter(({ group }) => group === this.#group);
    if (view) this.catchUp(view);
  }

  /** Returns the alerts that an event causes. The view must already include it. */
  take(event: EventMessage, view: FlareLists): readonly AlertHit[] {
    const { name, data } = event;
    const channel = CHANNELS.find((one) => channelOf({ group: this.#group, channel: one }) === event.channel);
    if (this.#queries.length === 0 || !channel) return [];
    if (!WATCHED.some((one) => one === name)) return [];
    const id = "flare" in data ? data.flare.id : "id" in data ? data.id : undefined;
    if (id === undefined) return [];
    const isKnown = this.#known.has(keyOf(channel, id));
    if (isKnown && name !== "flare-surged") return [];
    const listed = view.flares?.[LIST_OF_CHANNEL[channel]]?.find((flare) => flare.id === id);
    // To a query that selects the flare only now, the surge is its start.
    const surge = isKnown && name === "flare-surged" ? data.surge.number : undefined;
    return listed ? this.#select(channel, [listed], view, surge) : [];
  }

  /** Returns alerts for the selected flares in the view that no earlier call returned. */
  catchUp(view: FlareLists): readonly AlertHit[] {
    return CHANNELS.flatMap((channel) =>
      this.#select(channel, view.flares?.[LIST_OF_CHANNEL[channel]] ?? [], view),
    );
  }

  #select(
    channel: FlareChannel,
    flares: readonly AnyFlare[],
    view: FlareLists,
    surge?: number,
  ): readonly AlertHit[] {
    // Without full access a running flare is first seen in the delayed list.
    const isIn = (wanted: FlareChannel) =>
      wanted === channel || (wanted === "flares.pro" && channel === "flares.free" && !view.flares?.pro);
    const hits: AlertHit[] = [];
    for (const query of this.#queries.filter((one) => isIn(one.channel)))
      for (const flare of wantedFlares(flares, view.explanations, query)) {
        const key = surge === undefined ? keyOf(channel, flare.id) : `surge ${surge} ${flare.id}`;
        if (this.#known.has(key)) continue;
        this.#known.set(key, true);
        hits.push({
          key,
          news: surge !== undefined ? "surge" : channel === "flares.finished" ? "end" : "start",
          flare,
          why: view.explanations[flare.id],
          outcome: view.outcomes?.[flare.id],
        });
      }
    return hits;
  }
}

function keyOf(channel: FlareChannel, id: string): string {
  return `${channel === "flares.finished" ? "end" : "start"} ${id}`;
}
