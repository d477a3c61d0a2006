import type { BscChartItem, Explanation, Flare } from "../../model/index.ts";

export const FLARE_LISTS = ["pro", "free", "finished_trending"] as const;
export type FlareList = (typeof FLARE_LISTS)[number];

export const SORTS = ["newest", "change", "score", "liquidity"] as const;
export type Sort = (typeof SORTS)[number];

type Explanations = Readonly<Record<string, Explanation>>;

/** Returns the flares with `search` in symbol, name or address; `safe`: no warnings. */
export function wantedFlares(
  flares: readonly Flare[],
  explanations: Explanations,
  { search, safe }: { readonly search: string; readonly safe: boolean },
): readonly Flare[] {
  const wanted = search.trim().toLowerCase();
  if (wanted === "" && !safe) return flares;
  return flares.filter(({ id, token }) => {
    if (safe && (explanations[id]?.warnings.length ?? 0) > 0) return false;
    return [token.symbol, token.name, token.address].some((text) => text.toLowerCase().includes(wanted));
  });
}

/** Sorts the flares; ties keep their order. `newest` is the server's own order. */
export function sortFlares(
  flares: readonly Flare[],
  explanations: Explanations,
  sort: Sort,
): readonly Flare[] {
  if (sort === "newest") return flares;
  const value = ({ id, recent_price_change, liquidity }: Flare): number => {
    if (sort === "change") return recent_price_change;
    return sort === "score" ? (explanations[id]?.score ?? 0) : Number(liquidity);
  };
  return flares.toSorted((a, b) => value(b) - value(a));
}

/** Returns the charts' price curves by lower-case address. */
export function sparksOf(charts: readonly BscChartItem[]): ReadonlyMap<string, readonly number[]> {
  return new Map(
    charts.map(({ flare, latest_candle_prices }) => [
      flare.token.address.toLowerCase(),
      latest_candle_prices,
    ]),
  );
}
