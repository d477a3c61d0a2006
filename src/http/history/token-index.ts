import {
  type AnyFlare,
  type AnyFlares,
  type ChainToken,
  type ExchangeToken,
  type Flare,
  flaresKeyOf,
  type Group,
  type Listing,
  type MarketData,
  type NestedFlare,
  type Snapshot,
  type TokenDetails,
} from "../../model/index.ts";

export type TokenFacts = Pick<
  TokenDetails,
  | "symbol"
  | "address"
  | "name"
  | "price"
  | "created_at"
  | "liquidity"
  | "market_data"
  | "social_data"
  | "contract_source"
  | "as_of"
>;

/** What a group's lists have of a token. */
export interface ListedToken {
  /** From the list that is updated most often. */
  readonly facts: TokenFacts;
  /** Running flares, then finished ones, newest start first. */
  readonly flares: readonly Flare[];
}

/** Returns the address in lower case; of a token without address the symbol. */
export function identityOf(token: { readonly address?: string | null; readonly symbol: string }): string {
  return token.address?.toLowerCase() ?? token.symbol;
}

/** The tokens in a group's lists, by identity and symbol. */
export class TokenIndex {
  readonly #tokens = new Map<string, ListedToken & { readonly flares: Flare[] }>();
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

  #add(facts: TokenFacts, flare: Flare | undefined): void {
    const identity = identityOf(facts);
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

type Listed = readonly [facts: TokenFacts, flare?: Flare];

/** Lists with current facts come first, the most often updated of them first. */
function listed(group: Group, snapshot: Snapshot): readonly Listed[] {
  const { flares, newest, charts, leaderboards } = snapshot;
  if (group !== "bsc") {
    const { pro, free, finished_trending }: AnyFlares = snapshot[flaresKeyOf(group)];
    return [
      ...charts[group].map(({ token, market_data }): Listed => [pricedFacts(token, market_data)]),
      ...leaderboards[group].map(({ object }): Listed => [pricedFacts(object, null)]),
      ...[...pro, ...free, ...finished_trending].map((flare): Listed => [otherFacts(flare)]),
    ];
  }
  const inCharts = [...charts.bsc.map(({ flare }) => flare), ...leaderboards.bsc.map(({ object }) => object)];
  return [
    ...[...flares.pro, ...flares.free].map((flare): Listed => [factsOf(flare, null), flare]),
    ...[...inCharts, ...newest.bsc].map((item): Listed => [factsOf(item, null)]),
    ...flares.finished_trending.map((flare): Listed => [finalFacts(flare), flare]),
  ];
}

/** Returns the facts as of a flare's end. */
export function finalFacts(flare: Flare): TokenFacts {
  return factsOf(flare, flare.finished_trending_at);
}

function factsOf(item: Flare | NestedFlare | Listing, as_of: string | null): TokenFacts {
  const { token, liquidity, market_data, social_data, contract_source } = item;
  const { symbol, address, name, price, created_at } = token;
  return {
    ...{ symbol, address, name, price, created_at },
    ...{ liquidity, market_data, social_data, contract_source, as_of },
  };
}

/** Returns the facts of another group's flare: those of its group's lists, and what they lack. */
function otherFacts({ token, market_data, social_data, finished_trending_at }: AnyFlare): TokenFacts {
  const { symbol, address = null, name, price, created_at } = token;
  const facts = pricedFacts({ symbol, price, ...(address !== null && { address }) }, market_data);
  return { ...facts, name, created_at, social_data, as_of: finished_trending_at };
}

function pricedFacts(token: ExchangeToken | ChainToken, market_data: MarketData | null): TokenFacts {
  return {
    symbol: token.symbol,
    address: "address" in token ? token.address : null,
    name: market_data?.name ?? null,
    price: token.price,
    created_at: null,
    liquidity: null,
    market_data,
    social_data: null,
    contract_source: null,
    as_of: null,
  };
}
