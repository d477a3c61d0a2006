import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/lib/time/time.ts";
import type { Span } from "../../base/model/index.ts";
import type { FlareStart } from "./flare-start.ts";

/*
 * A bucket is a form with some of its dimensions, each with one of its ranges. The key
 * `trades age=0 locked=1` has all flares of trades that are young and mostly locked, with any
 * liquidity.
 */

interface Dimension {
  readonly name: "age_s" | "liquidity" | "locked" | "score";
  /** Ranges start at these values, the first at any lower one. */
  readonly bounds: readonly number[];
  readonly measure: (start: FlareStart) => number | null;
}

const AGE: Dimension = {
  name: "age_s",
  bounds: [10 * MINUTE_MS, HOUR_MS, DAY_MS].map((ms) => ms / SECOND_MS),
  measure: ({ ageS }) => ageS,
};
const LOCKED: Dimension = { name: "locked", bounds: [0.5], measure: ({ lockedShare }) => lockedShare };
const LIQUIDITY: Dimension = {
  name: "liquidity",
  bounds: [20_000, 100_000],
  measure: ({ liquidityUsd }) => liquidityUsd,
};
const SCORE: Dimension = { name: "score", bounds: [2.5, 3.5], measure: ({ score }) => score };

/** The dimensions of each form, the most telling first. */
const DIMENSIONS: Readonly<Record<NonNullable<FlareStart["form"]>, readonly Dimension[]>> = {
  trades: [AGE, LOCKED, LIQUIDITY],
  reports: [AGE, LIQUIDITY],
  candles: [SCORE],
  seconds: [SCORE],
};

export interface Bucket {
  readonly key: string;
  readonly ranges: Readonly<Partial<Record<Dimension["name"], Span>>>;
}

/** Returns the buckets of a start from the coarsest on, each within the one before. */
export function pathOf(start: FlareStart): readonly Bucket[] {
  const { form } = start;
  if (form === undefined) return [];
  const path: Bucket[] = [{ key: form, ranges: {} }];
  for (const { name, at, range } of placesOf(start, form)) {
    const last = path.at(-1);
    if (last) path.push({ key: `${last.key} ${name}=${at}`, ranges: { ...last.ranges, [name]: range } });
  }
  return path;
}

/** Returns the keys of all buckets that have the start. */
export function keysOf(start: FlareStart): readonly string[] {
  const { form } = start;
  if (form === undefined) return [];
  const keys: string[] = [form];
  for (const { name, at } of placesOf(start, form)) keys.push(...keys.map((key) => `${key} ${name}=${at}`));
  return keys;
}

/** Returns the range that the start falls into, for each dimension whose value is known. */
function placesOf(start: FlareStart, form: keyof typeof DIMENSIONS) {
  return DIMENSIONS[form].flatMap(({ name, bounds, measure }) => {
    const value = measure(start);
    if (value === null) return [];
    const at = bounds.filter((bound) => value >= bound).length;
    const range: Span = { at_least: bounds[at - 1] ?? null, below: bounds[at] ?? null };
    return [{ name, at, range }];
  });
}
