import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** What a source may know, as `Flarewire-Facts` names it. */
export type Fact = "trades" | "liquidity" | "listings" | "profiles";
const FACTS: readonly Fact[] = ["trades", "liquidity", "listings", "profiles"];

/** The kind of market; `undefined` if the server does not say. */
export interface MarketKind {
  /** `live`, `recorded` or `simulated`. */
  readonly origin: string | undefined;
  readonly facts: readonly string[] | undefined;
}

export const Market = createContext<MarketKind>({ origin: undefined, facts: undefined });

/**
 * Whether the visitor has no key. Pages of the server get none: a link shows them what everyone may
 * see, which may be nothing.
 */
export const IsAnonymous = createContext(true);

/** Returns the facts that the market's source cannot know. Their values would be neutral ones. */
export function lackedFacts({ facts }: MarketKind): readonly Fact[] {
  return facts === undefined ? [] : FACTS.filter((fact) => !facts.includes(fact));
}

/** Returns the label of prices. A source without trades and pools has prices in any currency. */
export function usePriceLabel(): string {
  const lacked = lackedFacts(useContext(Market));
  return lacked.includes("trades") && lacked.includes("liquidity") ? "Price as recorded" : "Price in USD";
}
