import {
  type AnyFlare,
  type AnyFlares,
  type ChainToken,
  type ExchangeToken,
  flaresKeyOf,
  type Group,
  type Listing,
  type MarketData,
  type NestedFlare,
  type Snapshot,
  type TokenDetails,
  tokenOf,
} from "../../../base/model/index.ts";

export type TokenFacts = Omit<
  TokenDetails,
  "group" | "warnings" | "canary" | "chart" | "leaderboard" | "candles" | "flares"
>;

/** A token's data in its group's lists. */
export interface ListedToken {
  /** From the list that is updated most often. */
  readonly facts: TokenFacts;
  /** Running flares, then finished ones, newest start first. */
  readonly flares: readonly AnyFlare[];
}

/** The tokens in a group's lists, by identity and symbol. */
export class TokenIndex {
  readonly #tokens = new Map<string, ListedToken & { readonly flares: AnyFlare[] }>();
  readonly #bySymbol = new Map<string, string[]>();

  constructor(group: Group, snapshot: Snapshot) {
    for (const [facts, flare] of listed(group, snapshot)) this.#add(facts, flare);
  }

  find(identity: string): ListedToken | undefined {
    return this.#tokens.get(identity);
  }

  /** Returns the identities of the tokens with this symbol; case is ignored. */
  identitiesOf(symbol: string): readonly string[] {
    return this.#bySymbol.get(symbol.toLowerCase()) ?? [];
  }

  #add(facts: TokenFacts, flare: AnyFlare | undefined): void {
    const identity = tokenOf({ token: facts });
    const known = this.#tokens.get(identity);
    if (known) {
      if (flare && !known.flares.some(({ id }) => id === flare.id)) known.flares.push(flare);
      return;
    }
    this.#tokens.set(identity, { facts, flares: flare ? [flare] : [] });
    const symbol = facts.symbol.toLowerCase();
    const others = this.#bySymbol.get(symbol);
    if (others) others.push(identity);
    else this.#bySymbol.set(symbol, [identity]);
  }
}

type Listed = readonly [facts: TokenFacts, flare?: AnyFlare];

/**
 * Returns the tokens of all lists. Lists with current facts come first, the most often updated of
 * them first.
 */
function listed(group: Group, snapshot: Snapshot): readonly Listed[] {
  const { pro, free, finished_trending }: AnyFlares = snapshot[flaresKeyOf(group)];
  return [
    ...[...pro, ...free].map((flare): Listed => [factsOf(flare, null), flare]),
    ...current(group, snapshot).map((facts): Listed => [facts]),
    ...finished_trending.map((flare): Listed => [finalFacts(flare), flare]),
  ];
}

/** Returns the facts of charted and listed tokens. */
function current(group: Group, { newest, charts, leaderboards }: Snapshot): readonly TokenFacts[] {
  if (group !== "bsc") {
    return [
      ...charts[group].map(({ token, market_data }) => pricedFacts(token, market_data)),
      ...leaderboards[group].map(({ object }) => pricedFacts(object, null)),
    ];
  }
  const inCharts = [...charts.bsc.map(({ flare }) => flare), ...leaderboards.bsc.map(({ object }) => object)];
  return [...inCharts, ...newest.bsc].map((item) => factsOf(item, null));
}

/** Returns the facts as of a flare's end. */
export function finalFacts(flare: AnyFlare): TokenFacts {
  return factsOf(flare, flare.finished_trending_at);
}

function factsOf(item: AnyFlare | NestedFlare | Listing, as_of: string | null): TokenFacts {
  const { token, liquidity, market_data, social_data, contract_source } = item;
  const { symbol, address = null, name, price, price_at = null, created_at } = token;
  return {
    symbol,
    address,
    name,
    price,
    price_at,
    created_at,
    liquidity,
    market_data,
    social_data,
    contract_source,
    as_of,
  };
}

function pricedFacts(token: ExchangeToken | ChainToken, market_data: MarketData | null): TokenFacts {
  return {
    symbol: token.symbol,
    address: "address" in token ? token.address : null,
    name: market_data?.name ?? null,
    price: token.price,
    price_at: null,
    created_at: null,
    liquidity: null,
    market_data,
    social_data: null,
    contract_source: null,
    as_of: null,
  };
}
