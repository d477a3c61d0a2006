import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** What a source may know, as `Flarewire-Facts` names it. */
const FACTS = ["trades", "liquidity", "listings", "profiles"] as const;

/** The kind of market. Fields are `undefined` if the server does not report them. */
export interface MarketKind {
  /** `live`, `recorded` or `simulated`. */
  readonly origin: string | undefined;
  readonly facts: readonly string[] | undefined;
}

export const UNKNOWN_MARKET: MarketKind = { origin: undefined, facts: undefined };
export const Market = createContext(UNKNOWN_MARKET);

/**
 * Whether the visitor has no key. A link to a page of the server sends none, so that page shows
 * what everyone may see, which may be nothing.
 */
export const IsAnonymous = createContext(true);

/** Whether the page shows old data, which says nothing of the market now. */
export const IsOld = createContext(false);

/**
 * Returns the facts that the market's source cannot know; none before the server reports them. The
 * API has neutral values for them.
 */
export function lackedFacts({ facts }: MarketKind): readonly (typeof FACTS)[number][] {
  return facts === undefined ? [] : FACTS.filter((fact) => !facts.includes(fact));
}

/** Whether prices are in US dollars: without trades and liquidity, they may be in any currency. */
export function useIsUsd(): boolean {
  const lacked = lackedFacts(useContext(Market));
  return !(lacked.includes("trades") && lacked.includes("liquidity"));
}

/** Returns the label of prices. */
export function usePriceLabel(): string {
  return useIsUsd() ? "Price in USD" : "Price as recorded";
}

/** Returns the same within a sentence. */
export function usePriceWords(): string {
  return usePriceLabel().replace("Price", "price");
}
