import type { Flare, Listing, NestedFlare, Snapshot } from "../../model/index.ts";
import { jsonEqual } from "../json-equal.ts";

/** Ids that are remembered of one identity. More than one is unusual, and a list of nothing else must cost no square of its length. */
const MAX_SAME = 8;

/**
 * Returns `answer` with each flare, listing and chart item under the id by which `before` knows it, whatever id an upstream gives it this
 * time. A flare of the same address and start is the same flare, a listing of the same address and moment the same listing, and a
 * token has one item in a chart. Explanations and the flares inside charts and leaderboards follow. Where each id is known
 * or new, the lists of `answer` are returned as they are.
 */
export function withKnownIds(answer: Snapshot, before: Snapshot): Snapshot {
  const { free, pro, finished_trending } = before.flares;
  const flares = new KnownIds<Flare>(identityOfFlare, [...pro, ...free, ...finished_trending]);
  const listings = new KnownIds<Listing>(identityOfListing, before.newest.bsc);
  const { charts, leaderboards } = answer;
  const renamed: Snapshot = {
    flares: {
      pro: flares.rename(answer.flares.pro),
      free: flares.rename(answer.flares.free),
      finished_trending: flares.rename(answer.flares.finished_trending),
    },
    newest: { bsc: listings.rename(answer.newest.bsc) },
    explanations: withRenamedKeys(answer.explanations, flares.renames),
    charts: {
      bsc: new KnownIds(({ flare }) => foldedAddress(flare), before.charts.bsc).rename(charts.bsc),
      exchange: new KnownIds(({ token }) => token.symbol, before.charts.exchange).rename(charts.exchange),
      matic: new KnownIds(foldedAddress, before.charts.matic).rename(charts.matic),
      avalanche: new KnownIds(foldedAddress, before.charts.avalanche).rename(charts.avalanche),
    },
    leaderboards,
  };
  if (flares.renames.size === 0) return renamed;
  return withKnownNestedIds(renamed, before, flares);
}

/** The ids of flares are unstable: those of the flares inside charts and leaderboards are either the same, or as unstable. */
function withKnownNestedIds(answer: Snapshot, before: Snapshot, flares: KnownIds<Flare>): Snapshot {
  const nested = (list: NestedFlare[], held: readonly NestedFlare[]) =>
    new KnownIds<NestedFlare>(foldedAddress, held, flares).rename(list);
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

/** The ids of one kind of item, by what identifies it beside its id. */
class KnownIds<T extends { readonly id: string }> {
  /** The ids of an answer that were replaced, and by which. */
  readonly renames: Map<string, string>;
  readonly #identityOf: (item: T) => string;
  readonly #held: ReadonlyMap<string, T>;
  readonly #known: Set<string>;
  #ids: Map<string, string[]> | undefined;

  /** With `outer`, ids that it knows or replaced count here too. */
  constructor(identityOf: (item: T) => string, held: readonly T[], outer?: KnownIds<Flare>) {
    this.#identityOf = identityOf;
    this.#held = new Map(held.map((item) => [item.id, item]));
    this.#known = new Set([...this.#held.keys(), ...(outer ? outer.#known : [])]);
    this.renames = new Map(outer?.renames);
  }

  /** The list with known ids; two items of it never get the same one. */
  rename(list: T[]): T[] {
    if (list.every(({ id }) => this.#known.has(id))) return list;
    const taken = new Set(list.map(({ id }) => id));
    return list.map((item) => {
      const id = this.#known.has(item.id) ? undefined : this.#knownIdOf(item, taken);
      if (id === undefined) return item;
      taken.add(id);
      const renamed = { ...item, id };
      const held = this.#held.get(id);
      return held && jsonEqual(held, renamed) ? held : renamed;
    });
  }

  #knownIdOf(item: T, taken: ReadonlySet<string>): string | undefined {
    const renamed = this.renames.get(item.id);
    if (renamed !== undefined) return taken.has(renamed) ? undefined : renamed;
    this.#ids ??= this.#index();
    const identity = this.#identityOf(item);
    const ids = this.#ids.get(identity) ?? [];
    const id = ids.find((known) => !taken.has(known));
    if (id !== undefined) this.renames.set(item.id, id);
    else {
      this.#known.add(item.id);
      this.#ids.set(identity, [...ids, item.id].slice(0, MAX_SAME));
    }
    return id;
  }

  #index(): Map<string, string[]> {
    const ids = new Map<string, string[]>();
    for (const item of this.#held.values()) {
      const identity = this.#identityOf(item);
      ids.set(identity, [...(ids.get(identity) ?? []), item.id].slice(0, MAX_SAME));
    }
    return ids;
  }
}

function identityOfFlare(flare: Flare): string {
  return `${flare.started_trending_at} ${foldedAddress(flare)}`;
}

function identityOfListing(listing: Listing): string {
  return `${listing.listed_at} ${foldedAddress(listing)}`;
}

/** Compared without regard to case: the same address may be written in two ways. */
function foldedAddress({ token }: { readonly token: { readonly address: string } }): string {
  return token.address.toLowerCase();
}

function withRenamedKeys<V>(record: Record<string, V>, renames: ReadonlyMap<string, string>) {
  if (renames.size === 0) return record;
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [renames.get(key) ?? key, value]));
}
