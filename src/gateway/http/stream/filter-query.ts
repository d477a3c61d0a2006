import { suggestion } from "../../../base/lib/text/nearest.ts";
import { EVENT_NAMES, Filter, QUERY_DECIMAL } from "../../../base/protocol/index.ts";
import { invalid } from "../connections/admission.ts";

const LISTS = ["tokens", "symbols", "names"] as const;
const NUMBERS = ["min_liquidity", "min_price_change"] as const;

/**
 * Reads a query's filter, with lists comma-separated or repeated; `undefined` if there is none.
 * Throws FlarewireError `invalid-parameter` with the field.
 */
export function readFilter(query: Readonly<Record<string, unknown>>): Filter | undefined {
  const given: Record<string, unknown> = {};
  for (const field of LISTS) {
    if (query[field] !== undefined)
      given[field] = [query[field]].flat().flatMap((part) => String(part).split(","));
  }
  for (const field of NUMBERS) {
    const value = query[field];
    if (value === undefined) continue;
    if (typeof value !== "string" || !QUERY_DECIMAL.test(value))
      throw invalid(field, value, "a decimal number");
    given[field] = Number(value);
  }
  const sticky = readFlag("sticky", query.sticky);
  if (sticky !== undefined) given.sticky = sticky;
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

/** Reads `true` or `false`; `undefined` if it is absent. Throws `invalid-parameter`. */
export function readFlag(field: string, value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  if (value === "true" || value === "false") return value === "true";
  throw invalid(field, value, "true or false");
}
