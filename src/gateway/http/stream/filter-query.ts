import { z } from "zod";
import { suggestion } from "../../../base/lib/text/nearest.ts";
import { EVENT_NAMES, EventName, Filter } from "../../../base/protocol/index.ts";
import { decodeQuery, type ParameterSet } from "../contract/parameters.ts";
import { invalid } from "../problems/invalid.ts";

const { tokens, symbols, min_price_change, min_locked, sticky } = Filter.shape;

/** The fields of a filter as parameters. {@link Filter} checks their values. */
export const FILTER_QUERY = {
  tokens: {
    schema: tokens.unwrap(),
    description: "Only items with these addresses.",
    example: ["0x9f5a7c0e6c6f0f5d6be1ad7df5ca1d0ee0c6f9ab"],
    cost: 4,
  },
  symbols: {
    schema: symbols.unwrap(),
    description:
      "Only items with these symbols, or flares of the exchange with these pairs, such as `BTC/USDT`; case is ignored.",
    example: ["CAKE"],
    cost: 4,
  },
  min_liquidity: {
    schema: z.number().min(0),
    description:
      "Only items with at least this liquidity in US dollars, now or, with `sticky`, at any earlier time.",
    example: 50_000,
    cost: 4,
  },
  min_price_change: {
    schema: min_price_change.unwrap(),
    description:
      "Only items whose price change is at least this percentage, now or, with `sticky`, at any earlier time. It may be negative.",
    example: 10,
    cost: 4,
  },
  min_age: {
    schema: z.number().min(0),
    description: "Only flares whose token was at least this old at their start, in seconds.",
    example: 3_600,
    cost: 4,
  },
  min_locked: {
    schema: min_locked.unwrap(),
    description: "Only flares with at least this share of liquidity burned or locked for more than an hour.",
    example: 0.9,
    cost: 4,
  },
  sticky: {
    schema: sticky.unwrap(),
    description:
      "Whether an item that met the filter once stays selected until it leaves its list. Default: only with `names`. Requires a parameter that selects items.",
    example: true,
  },
  names: {
    schema: z.array(EventName).min(1).max(EVENT_NAMES.length),
    description: "Only events with these names.",
    example: ["flare-started", "flare-finished"],
  },
} as const satisfies ParameterSet;

/**
 * Reads a query's filter, with lists comma-separated or repeated; `undefined` if there is none.
 * Throws FlarewireError `invalid-parameter` with the field.
 */
export function readFilter(query: Readonly<Record<string, unknown>>): Filter | undefined {
  const given = decodeQuery(FILTER_QUERY, query);
  if (Object.keys(given).length === 0) return undefined;
  const parsed = Filter.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0] ?? "filter");
  const names: readonly string[] = field === "names" ? EVENT_NAMES : [];
  const wrong =
    [given[field]]
      .flat()
      .map(String)
      .find((name) => !names.includes(name)) ?? "";
  throw invalid(field, query[field], `${issue?.message ?? "another value"}${suggestion(wrong, names)}`);
}
