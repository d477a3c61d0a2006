import {
  type Channel,
  channelsOfPlan,
  FlarewireError,
  type Freshness,
  type Plan,
  type Snapshot,
} from "../../base/protocol/index.ts";
import { invalid } from "../../gateway/http/connections/admission.ts";
import { type ListedPair, PAIR_SOURCES, type PairSource } from "./pair-sources.ts";

/** Selects pairs of a list. */
export interface PairQuery {
  readonly list: PairSource;
  /** Name of the exchange, in lower case. Default: all. */
  readonly exchange?: string | undefined;
  /** Quote currency, in upper case. Default: all, and USDT for pairs without one. */
  readonly quote?: string | undefined;
  /** Settlement currency of futures, in upper case, appended as `:USDT`. Default: none. */
  readonly settle?: string | undefined;
}

export const PAIR_LISTS = Object.keys(PAIR_SOURCES) as readonly PairSource[];
export const DEFAULT_LIST: PairSource = "pro";

/** Names of currencies and exchanges. */
export const PAIR_NAME = /^[A-Za-z0-9]{1,16}$/;

/** Reads a query. Throws `invalid-parameter`. */
export function readPairQuery(query: unknown): PairQuery {
  const given: Partial<Record<string, unknown>> = Object(query);
  const { list = DEFAULT_LIST } = given;
  const known = PAIR_LISTS.find((name) => name === list);
  if (known === undefined) throw invalid("list", list, `one of ${PAIR_LISTS.join(", ")}`);
  return {
    list: known,
    exchange: readName("exchange", given.exchange)?.toLowerCase(),
    quote: readName("quote", given.quote)?.toUpperCase(),
    settle: readName("settle", given.settle)?.toUpperCase(),
  };
}

/** Returns the channel of the list that a query names; none if there is no such list. */
export function channelsOfQuery(query: unknown): readonly Channel[] {
  const { list = DEFAULT_LIST }: { readonly list?: unknown } = Object(query);
  return PAIR_LISTS.flatMap((name) => (name === list ? [PAIR_SOURCES[name].channel] : []));
}

/** Throws `forbidden` if the plan does not include the list. */
export function checkPlan({ list }: PairQuery, plan: Plan | undefined): void {
  const { channel } = PAIR_SOURCES[list];
  if (channelsOfPlan(plan).includes(channel)) return;
  const bound = PAIR_LISTS.filter((name) => channelsOfPlan(plan).includes(PAIR_SOURCES[name].channel));
  const message = `list is ${list}, which the "${plan}" plan does not include; it must be one of ${bound.join(", ")}`;
  throw new FlarewireError("forbidden", message, { field: "list", bound: bound.join(", ") });
}

/**
 * Returns the list's pairs. Returns none while the data is not live, because flares may have
 * finished. An error instead would make a bot keep its last list.
 */
export function listedPairs(
  list: PairSource,
  snapshot: Snapshot,
  { state }: Pick<Freshness, "state">,
): readonly ListedPair[] {
  return state === "live" ? PAIR_SOURCES[list].pairsOf(snapshot) : [];
}

/** Returns the pairs that the query selects, in ccxt's unified form, each once. */
export function selectPairs(listed: readonly ListedPair[], query: PairQuery): readonly string[] {
  const { exchange, quote, settle } = query;
  const selected = listed.filter(
    (one) =>
      (exchange === undefined || one.exchange === undefined || one.exchange === exchange) &&
      (quote === undefined || one.quote === undefined || one.quote === quote),
  );
  const suffix = settle === undefined ? "" : `:${settle}`;
  return [...new Set(selected.map((one) => `${one.base}/${one.quote ?? quote ?? "USDT"}${suffix}`))];
}

function readName(field: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && PAIR_NAME.test(value)) return value;
  throw invalid(field, value, "one name of 1 to 16 letters and digits");
}
