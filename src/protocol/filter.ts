import { z } from "zod";
import { Address, DecimalString } from "../model/index.ts";
import { EVENT_NAMES, type EventName } from "./event.ts";
import type { Marks } from "./view/lists.ts";

/** Most tokens, and most symbols, of a filter. */
const MAX_NAMED = 64;
const A_LIST = { error: `a list of 1 to ${MAX_NAMED}` };
const A_SYMBOL = { error: "a text of 1 to 64 characters" };

/**
 * Which items of the lists a subscription follows: those that meet every field that is given. Of the values of one field, one
 * has to be met. An item enters when it meets the filter and leaves when it no longer does; see `sticky`. Fields that are not of
 * these are refused: ignoring one would send what was not asked for.
 */
export const Filter = z.strictObject({
  /** Contract addresses, without regard to case. Items without an address are not selected. */
  tokens: z.array(Address, A_LIST).min(1, A_LIST).max(MAX_NAMED, A_LIST).optional(),
  /** Symbols, without regard to case. */
  symbols: z
    .array(z.string(A_SYMBOL).min(1, A_SYMBOL).max(64, A_SYMBOL), A_LIST)
    .min(1, A_LIST)
    .max(MAX_NAMED, A_LIST)
    .optional(),
  /** Least liquidity in US dollars. Items that state none are not selected. */
  min_liquidity: z
    .union([z.number(), DecimalString], { error: "a number, or a decimal as text, from 0 on" })
    .refine((value) => Number(value) >= 0, { error: "from 0 on" })
    .optional(),
  /** Least price change in percent, of a flare over the last 5 minutes, of a chart's item from its average; below 0 for falls. Items that state none are not selected. */
  min_price_change: z.number({ error: "a number" }).optional(),
  /**
   * False: an item is selected while it meets the filter, so it enters and leaves as it passes. True: an item that met the filter
   * once stays until it leaves its list. Default: false without `names`, true with `names`, so that a finish follows its start.
   */
  sticky: z.boolean({ error: "true or false" }).optional(),
  /** Events of these names only. Whoever leaves names out does not hear all that happens to its lists. */
  names: z
    .array(z.enum(EVENT_NAMES, { error: `one of ${EVENT_NAMES.join(", ")}` }))
    .min(1)
    .max(EVENT_NAMES.length)
    .optional(),
});
export type Filter = z.infer<typeof Filter>;

/** A filter ready for use. Equal filters have equal keys, in whatever order and form their values were given. */
export interface ListFilter {
  readonly key: string;
  /** What was asked for, in the one form that equal filters have. */
  readonly inForce: Filter;
  /** Lower case; `undefined`: any token. */
  readonly tokens: ReadonlySet<string> | undefined;
  /** Lower case; `undefined`: any symbol. */
  readonly symbols: ReadonlySet<string> | undefined;
  /** `undefined`: all events. */
  readonly names: ReadonlySet<EventName> | undefined;
  /** It keeps items away; else it is only about names, and every event says by itself whether it is wanted. */
  readonly selectsItems: boolean;
  /** An item that once met it stays selected until it leaves its list; else it has to meet it now. */
  readonly sticky: boolean;
  /** True when it is met by an item of which this is known: as it is now, or, of a sticky filter, since it entered its list. */
  passes(marks: Marks): boolean;
}

/** The filter ready for use; `undefined` when it selects everything. */
export function compileFilter(filter: Filter | undefined): ListFilter | undefined {
  const { tokens, symbols, names, min_liquidity, min_price_change } = filter ?? {};
  const sticky = filter?.sticky ?? names !== undefined;
  const liquidity = min_liquidity === undefined ? undefined : Number(min_liquidity);
  const selectsItems =
    Boolean(tokens || symbols) || liquidity !== undefined || min_price_change !== undefined;
  const inForce: Filter = {
    ...(tokens && { tokens: distinct(tokens.map(foldCase)) }),
    ...(symbols && { symbols: distinct(symbols.map(foldCase)) }),
    ...(liquidity !== undefined && { min_liquidity: liquidity }),
    ...(min_price_change !== undefined && { min_price_change }),
    ...(selectsItems && { sticky }),
    ...(names && { names: distinct(names) }),
  };
  const key = JSON.stringify(inForce);
  if (key === "{}") return undefined;
  const tokenSet = inForce.tokens && new Set(inForce.tokens);
  const symbolSet = inForce.symbols && new Set(inForce.symbols);
  const priceChange = min_price_change;
  return {
    key,
    inForce,
    tokens: tokenSet,
    symbols: symbolSet,
    names: inForce.names && new Set(inForce.names),
    selectsItems,
    sticky,
    passes: (marks) =>
      (!tokenSet || marks.tokens.some((token) => tokenSet.has(token))) &&
      (!symbolSet || marks.symbols.some((symbol) => symbolSet.has(symbol))) &&
      (liquidity === undefined || marks.liquidity >= liquidity) &&
      (priceChange === undefined || marks.priceChange >= priceChange),
  };
}

/** Equal for texts that differ in case only. */
export function foldCase(text: string): string {
  return text.toLowerCase();
}

function distinct<T extends string>(values: readonly T[]): T[] {
  return [...new Set(values)].sort();
}
