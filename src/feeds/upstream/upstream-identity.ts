import { jsonEqual } from "../../base/lib/json-equal.ts";
import {
  type ChartItem,
  chartsBy,
  type Flare,
  type Listing,
  type NestedFlare,
  type Snapshot,
  tokenOf,
} from "../../base/model/index.ts";

/** Maximum ids per identity. Without it, many equal identities would take quadratic time. */
const MAX_SAME = 8;

/**
 * Replaces ids in `answer` with those in `before` for the same flares (address and start), listings
 * (address and time) and chart items (token), in case an upstream changes its ids. Explanations,
 * outcomes and nested flares follow.
 */
export function withKnownIds(answer: Snapshot, before: Snapshot): Snapshot {
  const { free, pro, finished_trending } = before.flares;
  const flares = new KnownIds<Flare>(identityOfFlare, [...pro, ...free, ...finished_trending]);
  const listings = new KnownIds<Listing>(identityOfListing, before.newest.bsc);
  const { charts, leaderboards } = answer;
  const renamed: Snapshot = {
    ...answer,
    flares: {
      pro: flares.rename(answer.flares.pro),
      free: flares.rename(answer.flares.free),
      finished_trending: flares.rename(answer.flares.finished_trending),
    },
    newest: { bsc: listings.rename(answer.newest.bsc) },
    explanations: withRenamedKeys(answer.explanations, flares.renames),
    outcomes: withRenamedKeys(answer.outcomes, flares.renames),
    charts: chartsBy((group) =>
      new KnownIds<ChartItem>(identityOfCharted, before.charts[group]).rename(charts[group]),
    ),
    leaderboards,
  };
  if (flares.renames.size === 0) return renamed;
  return withKnownNestedIds(renamed, before, flares);
}

/** Renames nested flares, if the upstream's flare ids have proved unstable. */
function withKnownNestedIds(answer: Snapshot, before: Snapshot, flares: KnownIds<Flare>): Snapshot {
  const nested = (list: NestedFlare[], previous: readonly NestedFlare[]) =>
    new KnownIds<NestedFlare>(tokenOf, previous, flares).rename(list);
  const { charts, leaderboards } = answer;
  const flaresOf = (items: Snapshot["charts"]["bsc"]) => items.map(({ flare }) => flare);
  const objectsOf = (entries: Snapshot["leaderboards"]["bsc"]) => entries.map(({ object }) => object);
  const inChart = nested(flaresOf(charts.bsc), flaresOf(before.charts.bsc));
  const inLeaderboard = nested(objectsOf(leaderboards.bsc), objectsOf(before.leaderboards.bsc));
  const chart = charts.bsc.map((item, index) => ({ ...item, flare: inChart[index] ?? item.flare }));
  const leaderboard = leaderboards.bsc.map((entry, index) => ({
    ...entry,
    object: inLeaderboard[index] ?? entry.object,
  }));
  return {
    ...answer,
    charts: { ...charts, bsc: chart },
    leaderboards: { ...leaderboards, bsc: leaderboard },
  };
}

class KnownIds<T extends { readonly id: string }> {
  /** Replaced ids of a response, with their replacements. */
  readonly renames: Map<string, string>;
  readonly #identityOf: (item: T) => string;
  readonly #previous: ReadonlyMap<string, T>;
  readonly #known: Set<string>;
  #ids: Map<string, string[]> | undefined;

  /** Includes the known and replaced ids of `outer`, if given. */
  constructor(identityOf: (item: T) => string, previous: readonly T[], outer?: KnownIds<Flare>) {
    this.#identityOf = identityOf;
    this.#previous = new Map(previous.map((item) => [item.id, item]));
    this.#known = new Set([...this.#previous.keys(), ...(outer ? outer.#known : [])]);
    this.renames = new Map(outer?.renames);
  }

  /** Returns the list with known ids. Never gives two items the same id. */
  rename(list: T[]): T[] {
    if (list.every(({ id }) => this.#known.has(id))) return list;
    const used = new Set(list.map(({ id }) => id));
    return list.map((item) => {
      const id = this.#known.has(item.id) ? undefined : this.#knownIdOf(item, used);
      if (id === undefined) return item;
      used.add(id);
      const renamed = { ...item, id };
      const previous = this.#previous.get(id);
      return previous && jsonEqual(previous, renamed) ? previous : renamed;
    });
  }

  #knownIdOf(item: T, used: ReadonlySet<string>): string | undefined {
    const renamed = this.renames.get(item.id);
    if (renamed !== undefined) return used.has(renamed) ? undefined : renamed;
    this.#ids ??= this.#index();
    const identity = this.#identityOf(item);
    const ids = this.#ids.get(identity) ?? [];
    const id = ids.find((candidate) => !used.has(candidate));
    if (id !== undefined) this.renames.set(item.id, id);
    else {
      this.#known.add(item.id);
      this.#ids.set(identity, [...ids, item.id].slice(0, MAX_SAME));
    }
    return id;
  }

  #index(): Map<string, string[]> {
    const ids = new Map<string, string[]>();
    for (const item of this.#previous.values()) {
      const identity = this.#identityOf(item);
      ids.set(identity, [...(ids.get(identity) ?? []), item.id].slice(0, MAX_SAME));
    }
    return ids;
  }
}

function identityOfFlare(flare: Flare): string {
  return `${flare.started_trending_at} ${tokenOf(flare)}`;
}

function identityOfListing(listing: Listing): string {
  return `${listing.listed_at} ${tokenOf(listing)}`;
}

function identityOfCharted(item: ChartItem): string {
  return tokenOf("flare" in item ? item.flare : item);
}

function withRenamedKeys<V>(record: Record<string, V>, renames: ReadonlyMap<string, string>) {
  if (renames.size === 0) return record;
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [renames.get(key) ?? key, value]));
}
