import { z } from "zod";
import {
  type Channel,
  channelsOfPlan,
  FlarewireError,
  type Freshness,
  type Plan,
  type Snapshot,
} from "../../base/protocol/index.ts";
import { type ParameterSet, readQuery, text } from "../../gateway/http/index.ts";
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

const PAIR_LISTS = Object.keys(PAIR_SOURCES) as readonly PairSource[];
const DEFAULT_LIST: PairSource = "pro";

/** Names of currencies and exchanges. */
const Name = text(/^[A-Za-z0-9]{1,16}$/, "one name of 1 to 16 letters and digits");

/** The parameters that select pairs, over HTTP and for freqtrade's consumers. */
export const PAIR_QUERY = {
  list: {
    schema: z.enum(PAIR_LISTS).default(DEFAULT_LIST),
    description:
      "`pro` and `free`: these lists of the exchange's flares. `chart`: its chart. `any`: a pattern for every pair, if the data is fresh.",
    example: "chart",
  },
  exchange: {
    schema: Name.transform((name) => name.toLowerCase()),
    description: "Only pairs of this exchange; case is ignored.",
    example: "binance",
  },
  quote: {
    schema: Name.transform((name) => name.toUpperCase()),
    description: "Only pairs with this quote currency; case is ignored.",
    example: "USDT",
  },
  settle: {
    schema: Name.transform((name) => name.toUpperCase()),
    description:
      "Pairs of futures that settle in this currency, such as `BTC/USDT:USDT`. Default: pairs of the spot market.",
    example: "USDT",
  },
} as const satisfies ParameterSet;

/** Reads a query. Throws `invalid-parameter`. */
export function readPairQuery(query: unknown): PairQuery {
  return readQuery(PAIR_QUERY, query);
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
