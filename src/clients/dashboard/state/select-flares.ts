import { foldAddress } from "../../../base/model/groups.ts";
import type { AnyFlare, Explanation, FinishCause } from "../../../base/model/index.ts";
import { tokenOf } from "../../../base/model/key-of.ts";
import { lockedShare } from "../../../base/model/text/why-text.ts";
import { DEFAULT_QUERY, type FlareQuery, filterOf, type Order } from "./flare-query.ts";

type Explanations = Readonly<Record<string, Explanation>>;

/**
 * Returns the flares of a list that the query selects. Filters that the API has too follow its
 * rules.
 */
export function wantedFlares<F extends AnyFlare>(
  flares: readonly F[],
  explanations: Explanations,
  query: FlareQuery,
): readonly F[] {
  if (!isSelective(query)) return flares;
  const cause = causeOf(query);
  const {
    hidesWarned,
    minLiquidity = 0,
    minPriceChange = Number.NEGATIVE_INFINITY,
    minAge = Number.NEGATIVE_INFINITY,
    minLocked,
  } = query;
  const tokens = new Set(query.tokens);
  const symbols = new Set(query.symbols);
  const search = query.search.trim().toLowerCase();
  return flares.filter((flare) => {
    const { id, liquidity, recent_price_change } = flare;
    const why = explanations[id];
    return (
      (tokens.size === 0 || tokens.has(foldAddress(tokenOf(flare)))) &&
      (symbols.size === 0 || symbolsOf(flare).some((symbol) => symbols.has(symbol.toLowerCase()))) &&
      Number(liquidity) >= minLiquidity &&
      recent_price_change >= minPriceChange &&
      (why?.age_s ?? Number.NEGATIVE_INFINITY) >= minAge &&
      (minLocked === undefined || (why !== undefined && lockedShare(why) >= minLocked)) &&
      (cause === undefined || explanations[id]?.finish_cause === cause) &&
      !(hidesWarned && (explanations[id]?.warnings.length ?? 0) > 0) &&
      textsOf(flare).some((text) => text.toLowerCase().includes(search))
    );
  });
}

/** Returns the symbol and, on an exchange, the pair. */
function symbolsOf(flare: AnyFlare): readonly string[] {
  const { symbol } = flare.token;
  return "pair" in flare && flare.pair !== null ? [symbol, flare.pair] : [symbol];
}

/** Returns the texts to search. On an exchange, the pair and the exchange replace the address. */
function textsOf(flare: AnyFlare): readonly string[] {
  const { symbol, name, address } = flare.token;
  const market = "pair" in flare ? [flare.pair, flare.exchange] : [address];
  return [symbol, name, ...market].filter((text) => text != null);
}

/** Whether the query can hide flares in its list. */
export function isSelective(query: FlareQuery): boolean {
  return !isPushable(query) || Object.keys(filterOf(query)).length > 0;
}

/**
 * Whether the server's filter can express the query: it cannot search, or test warnings or causes.
 */
export function isPushable(query: FlareQuery): boolean {
  return query.search.trim() === "" && !query.hidesWarned && causeOf(query) === undefined;
}

/** The cause that the query selects by; `undefined` in the lists of running flares. */
export function causeOf({ channel, cause }: FlareQuery): FlareQuery["cause"] {
  return channel === "flares.finished" ? cause : undefined;
}

/** Counts the finished flares by cause. Omits flares with an unknown cause. */
export function countCauses(
  flares: readonly AnyFlare[],
  explanations: Explanations,
): ReadonlyMap<FinishCause, number> {
  const counts = new Map<FinishCause, number>();
  for (const { id } of flares) {
    const cause = explanations[id]?.finish_cause;
    if (cause) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  }
  return counts;
}

/** Returns the query without its search and filters. */
export function withoutFilters({ group, channel, order, at }: FlareQuery): FlareQuery {
  return { ...DEFAULT_QUERY, group, channel, order, at };
}

/** A column by which rows can be sorted. */
interface Sorting<Row> {
  readonly order?: Order;
  readonly value?: (row: Row) => number | undefined;
}

/** Sorts the rows by the column of this order. Without such a column, keeps their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Sorting<Row>[],
  order: Order,
): readonly Row[] {
  const { value } = columns.find((column) => column.order === order) ?? {};
  if (!value) return rows;
  const of = (row: Row) => value(row) ?? Number.NEGATIVE_INFINITY;
  return rows.toSorted((a, b) => of(b) - of(a) || 0);
}
