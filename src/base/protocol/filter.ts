import { z } from "zod";
import { Address, DecimalString, foldAddress } from "../model/index.ts";
import { EVENT_NAMES, type EventName } from "./event.ts";
import type { Marks } from "./view/lists.ts";

/** Maximum number of tokens, and of symbols, in a filter. */
const MAX_NAMED = 64;
const A_LIST = { error: `a list of 1 to ${MAX_NAMED}` };
const SOME_EVENTS = { error: `a list of 1 to ${EVENT_NAMES.length} event names` };
const A_SYMBOL = { error: "a text of 1 to 64 characters" };

/** A decimal number in a query, such as that of `min_price_change`. Clients may send `1e-7`. */
export const QUERY_DECIMAL = /^-?\d{1,30}(\.\d{1,30})?(e[-+]?\d{1,3})?$/i;

/** Fields that a number of an item must reach. */
export const MINIMUMS = ["min_liquidity", "min_price_change", "min_age", "min_locked"] as const;
export type Minimum = (typeof MINIMUMS)[number];
/** Fields that select items, not events. */
export const ITEM_FIELDS = ["tokens", "symbols", ...MINIMUMS] as const;

export const Filter = z
  .strictObject({
    tokens: z
      .array(Address, A_LIST)
      .min(1, A_LIST)
      .max(MAX_NAMED, A_LIST)
      .optional()
      .describe("Addresses. Excludes items without an address."),
    symbols: z
      .array(z.string(A_SYMBOL).min(1, A_SYMBOL).max(64, A_SYMBOL), A_LIST)
      .min(1, A_LIST)
      .max(MAX_NAMED, A_LIST)
      .optional()
      .describe("Symbols, or pairs of flares of the exchange such as `BTC/USDT`, case-insensitive."),
    min_liquidity: z
      .union([z.number(), DecimalString], { error: "a number, or a decimal as text, from 0 on" })
      .refine((value) => Number(value) >= 0, { error: "from 0 on" })
      .optional()
      .describe("Minimum liquidity in US dollars. Excludes items that state none."),
    min_price_change: z
      .number({ error: "a number" })
      .optional()
      .describe(
        "Minimum price change in percent: of a flare over the last 5 minutes, of a chart's item from its average; below 0 for falls. Excludes items that state none.",
      ),
    min_age: z
      .number({ error: "a number of seconds from 0 on" })
      .min(0, { error: "from 0 on" })
      .optional()
      .describe("Minimum age of the token at the flare's start, in seconds. Excludes items that state none."),
    min_locked: z
      .number({ error: "a share from 0 to 1" })
      .min(0, { error: "from 0 on" })
      .max(1, { error: "up to 1" })
      .optional()
      .describe(
        "Minimum share of liquidity burned or locked for over an hour. Excludes items that state none.",
      ),
    sticky: z
      .boolean({ error: "true or false" })
      .optional()
      .describe(
        "Whether an item that met the filter once stays selected until it leaves its list. Default: only with `names`, so that a finish follows its start. Rejected without a field that selects items.",
      ),
    names: z
      .array(z.enum(EVENT_NAMES, { error: `one of ${EVENT_NAMES.join(", ")}` }), SOME_EVENTS)
      .min(1, SOME_EVENTS)
      .max(EVENT_NAMES.length, SOME_EVENTS)
      .optional()
      .describe(
        "Only events with these names. Other events are not sent, so the client's lists may become outdated.",
      ),
  })
  .refine((filter) => filter.sticky === undefined || selectsItems(filter), {
    path: ["sticky"],
    error: `omitted without ${ITEM_FIELDS.join(", ")}`,
  })
  .describe(
    "Selects the items of the lists that meet every given field. One matching value per field is enough. An item enters when it meets the filter and leaves when it no longer does; see `sticky`. Unknown fields are rejected.",
  );
export type Filter = z.infer<typeof Filter>;

/** A compiled filter. Equal filters have equal keys, whatever their form. */
export interface ListFilter {
  readonly key: string;
  /** The normalized filter. */
  readonly inForce: Filter;
  /** As by foldAddress; `undefined` for any token. */
  readonly tokens: ReadonlySet<string> | undefined;
  /** In lower case; `undefined` for any symbol. */
  readonly symbols: ReadonlySet<string> | undefined;
  /** `undefined` for all events. */
  readonly names: ReadonlySet<EventName> | undefined;
  /** Whether it excludes items. Otherwise it tests only event names. */
  readonly selectsItems: boolean;
  /** Whether an item that met the filter once stays selected until it leaves its list. */
  readonly sticky: boolean;
  /** Whether an item with these marks passes. `stated`: values that apply instead of theirs. */
  passes(marks: Pick<Marks, "tokens" | "symbols" | "highest">, stated?: Marks["stated"]): boolean;
}

function selectsItems(filter: Readonly<Partial<Record<(typeof ITEM_FIELDS)[number], unknown>>>): boolean {
  return ITEM_FIELDS.some((field) => filter[field] !== undefined);
}

/** Compiles a filter; `undefined` if it selects everything. */
export function compileFilter(filter: Filter | undefined): ListFilter | undefined {
  const { tokens, symbols, names } = filter ?? {};
  const sticky = filter?.sticky ?? names !== undefined;
  const minimums = MINIMUMS.filter((name) => filter?.[name] !== undefined).map(
    (name) => [name, Number(filter?.[name])] as const,
  );
  const isItemFilter = selectsItems(filter ?? {});
  const inForce: Filter = {
    ...(tokens && { tokens: uniqueSorted(tokens.map(foldAddress)) }),
    ...(symbols && { symbols: uniqueSorted(symbols.map((symbol) => symbol.toLowerCase())) }),
    ...Object.fromEntries(minimums),
    ...(isItemFilter && { sticky }),
    ...(names && { names: uniqueSorted(names) }),
  };
  const key = JSON.stringify(inForce);
  if (key === "{}") return undefined;
  const tokenSet = inForce.tokens && new Set(inForce.tokens);
  const symbolSet = inForce.symbols && new Set(inForce.symbols);
  return {
    key,
    inForce,
    tokens: tokenSet,
    symbols: symbolSet,
    names: inForce.names && new Set(inForce.names),
    selectsItems: isItemFilter,
    sticky,
    passes: (marks, stated = {}) =>
      (!tokenSet || marks.tokens.some((token) => tokenSet.has(token))) &&
      (!symbolSet || marks.symbols.some((symbol) => symbolSet.has(symbol))) &&
      minimums.every(([name, least]) => (stated[name] ?? marks.highest[name]) >= least),
  };
}

function uniqueSorted<T extends string>(values: readonly T[]): T[] {
  return [...new Set(values)].sort();
}
