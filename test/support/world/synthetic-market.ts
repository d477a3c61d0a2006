import * as AbiEvent from "ox/AbiEvent";
import type { Network } from "../../../src/feeds/chain/network.ts";
import type { LogSpec, TransactionSpec } from "./receipts.ts";

/** Activity on a chain. */
export interface Density {
  /** Pools in addition to the one between the wrapped coin and a stablecoin. */
  readonly pools: number;
  /** Swaps in each block. */
  readonly swaps: number;
  /**
   * Purchases and sales of each pool, by different wallets, before the sequence repeats. With few
   * of them, the same wallets seem to trade each token repeatedly.
   */
  readonly pairs: number;
  /** Transactions in each block that concern no pool. */
  readonly others: number;
}

/** A pool of a token of its own and a quote token. */
export interface SyntheticPool {
  readonly address: string;
  readonly form: "v2" | "v3";
  readonly factory: string;
  /** Lower than every quote token's address, so it is token 0. */
  readonly token: string;
  readonly quote: string;
  /** Reserves between two pairs of swaps. For a V3 pool, the virtual reserves. */
  readonly rest: Reserves;
}

export interface Reserves {
  readonly token: bigint;
  readonly quote: bigint;
}

/** A swap that a block contains. */
export interface SyntheticTrade {
  readonly pool: string;
  readonly token: string;
  readonly side: "buy" | "sell";
}

interface Template {
  readonly transactions: readonly TransactionSpec[];
  readonly trades: readonly SyntheticTrade[];
}

const TRANSFER = AbiEvent.getSelector("Transfer(address,address,uint256)");
export const FEE = 500;
const TOKEN_USD = 0.5;
const COIN_USD: Readonly<Record<string, number>> = { bsc: 600, matic: 0.25, avalanche: 20 };
const DEPTH_USD = 400_000;
const ROUTER = `0x${"90".repeat(20)}`;

/**
 * The pools of a chain and the transactions of its blocks. The blocks repeat: a sale reverses every
 * purchase, so the reserves then are the same. A block therefore depends only on its number,
 * however old it is, and its receipts need no EVM.
 */
export class SyntheticMarket {
  readonly network: Network;
  readonly anchor: SyntheticPool;
  readonly pools: readonly SyntheticPool[];
  readonly templates: readonly Template[];
  readonly #swaps: number;
  /** Units of each quote token that are worth a dollar. */
  readonly #dollar: ReadonlyMap<string, bigint>;

  constructor(network: Network, { pools, swaps, pairs, others }: Density) {
    this.network = network;
    this.#swaps = swaps;
    const [coin] = network.quotes;
    const stable = network.quotes.find(({ isStable }) => isStable);
    const v2 = network.factories.find(({ form }) => form === "v2");
    const v3 = network.factories.find(({ form }) => form === "v3");
    if (!coin || !stable || !v2 || !v3) throw new Error(`${network.name} lacks a quote token or a factory`);
    const coinUnits = BigInt(Math.round(10 ** 6 / (COIN_USD[network.group] ?? 1))) * 10n ** 12n;
    const dollar = new Map([
      [coin.address, coinUnits],
      [stable.address, 10n ** BigInt(stable.decimals)],
    ]);
    this.#dollar = dollar;
    const quoteOf = (usd: number, quote: string) => BigInt(usd) * (dollar.get(quote) ?? 0n);
    const [low, high] = [coin.address, stable.address].toSorted();
    this.anchor = {
      ...{ address: addressOf(network.chainId, 1, 0), form: "v2", factory: v2.address },
      ...{ token: low ?? "", quote: high ?? "" },
      rest: { token: quoteOf(5_000_000, low ?? ""), quote: quoteOf(5_000_000, high ?? "") },
    };
    this.pools = Array.from({ length: pools }, (_, index): SyntheticPool => {
      const isV2 = index % 2 === 0;
      const quote = (isV2 ? coin : stable).address;
      return {
        ...{ address: addressOf(network.chainId, 1, index + 1), form: isV2 ? "v2" : "v3", quote },
        ...{ factory: (isV2 ? v2 : v3).address, token: addressOf(network.chainId, 0, index + 1) },
        rest: {
          token: BigInt(DEPTH_USD / TOKEN_USD) * 10n ** 18n,
          quote: quoteOf(DEPTH_USD, quote),
        },
      };
    });
    const turns = pools * 2 * pairs;
    if (turns % swaps !== 0)
      throw new Error(`${swaps} swaps a block do not divide the ${turns} swaps of a sequence`);
    const length = turns / swaps;
    this.templates = Array.from({ length }, (_, number) => this.#template(number, others));
  }

  /** Returns a pool's reserves after this block. */
  reservesAt(pool: SyntheticPool, number: number): Reserves {
    const index = this.pools.indexOf(pool);
    const last = ((number % this.templates.length) + 1) * this.#swaps - 1 - index;
    const visit = Math.floor(last / this.pools.length);
    return index < 0 || last < 0 || visit % 2 === 1 ? pool.rest : this.#bought(pool, index, visit);
  }

  /** Returns a new token with a V2 pool of 20,000 dollars, and the transaction that lists it. */
  list(number: number): { readonly pool: SyntheticPool; readonly transaction: TransactionSpec } {
    const { chainId } = this.network;
    const { factory, quote } = this.pools[0] ?? this.anchor;
    const [address, token] = [addressOf(chainId, 3, number), addressOf(chainId, 2, number)];
    const rest = { token: 10n ** 24n, quote: 10_000n * (this.#dollar.get(quote) ?? 0n) };
    const maker = addressOf(chainId, 4, number);
    const logs = [
      {
        address: factory,
        topics: [
          AbiEvent.getSelector("PairCreated(address,address,address,uint256)"),
          wordOf(token),
          wordOf(quote),
        ],
        data: data([BigInt(address), 1n]),
      },
      transfer(token, maker, address, rest.token),
      transfer(quote, maker, address, rest.quote),
      {
        address,
        topics: [AbiEvent.getSelector("Sync(uint112,uint112)")],
        data: data([rest.token, rest.quote]),
      },
      {
        address,
        topics: [AbiEvent.getSelector("Mint(address,uint256,uint256)"), wordOf(ROUTER)],
        data: data([rest.token, rest.quote]),
      },
    ];
    return {
      pool: { address, form: "v2", factory, token, quote, rest },
      transaction: { from: maker, to: ROUTER, logs },
    };
  }

  #template(number: number, others: number): Template {
    const trades: SyntheticTrade[] = [];
    const transactions: TransactionSpec[] = [];
    for (let swap = 0; swap < this.#swaps; swap++) {
      const turn = number * this.#swaps + swap;
      const index = turn % this.pools.length;
      const pool = this.pools[index];
      if (!pool) continue;
      const visit = Math.floor(turn / this.pools.length);
      const side = visit % 2 === 0 ? "buy" : "sell";
      const from = addressOf(this.network.chainId, 4, turn);
      transactions.push({ from, to: ROUTER, logs: this.#swap(pool, index, visit, from) });
      trades.push({ pool: pool.address, token: pool.token, side });
    }
    for (let other = 0; other < others; other++) {
      const [from, to] = [4, 5].map((kind) => addressOf(this.network.chainId, kind, number * 31 + other));
      const token = this.anchor.quote;
      transactions.push({ from: from ?? "", to: token, logs: [transfer(token, from ?? "", to ?? "", 5n)] });
    }
    return { transactions, trades };
  }

  /** Returns the reserves between a purchase and its sale. */
  #bought({ rest, quote }: SyntheticPool, index: number, visit: number): Reserves {
    const usd = BigInt(50 + ((index * 7 + Math.floor(visit / 2) * 31) % 400));
    const after = rest.quote + usd * (this.#dollar.get(quote) ?? 0n);
    return { token: (rest.token * rest.quote) / after, quote: after };
  }

  #swap(pool: SyntheticPool, index: number, visit: number, trader: string): readonly LogSpec[] {
    const { address, token, quote, rest } = pool;
    const bought = this.#bought(pool, index, visit);
    const isBuy = visit % 2 === 0;
    const [tokens, quotes] = [rest.token - bought.token, bought.quote - rest.quote];
    const after = isBuy ? bought : rest;
    const transfers = isBuy
      ? [transfer(quote, trader, address, quotes), transfer(token, address, trader, tokens)]
      : [transfer(token, trader, address, tokens), transfer(quote, address, trader, quotes)];
    const who = [wordOf(ROUTER), wordOf(trader)];
    if (pool.form === "v2") {
      const amounts = isBuy ? [0n, quotes, tokens, 0n] : [tokens, 0n, 0n, quotes];
      const swap = AbiEvent.getSelector("Swap(address,uint256,uint256,uint256,uint256,address)");
      const sync = AbiEvent.getSelector("Sync(uint112,uint112)");
      return [
        ...transfers,
        { address, topics: [sync], data: data([after.token, after.quote]) },
        { address, topics: [swap, ...who], data: data(amounts) },
      ];
    }
    const { sqrtPriceX96, tick, liquidity } = rangeOf(pool, after);
    const words = [isBuy ? -tokens : tokens, isBuy ? quotes : -quotes, sqrtPriceX96, liquidity, BigInt(tick)];
    const isPancake = this.network.name === "bsc";
    const swap = AbiEvent.getSelector(
      isPancake
        ? "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)"
        : "Swap(address,address,int256,int256,uint160,uint128,int24)",
    );
    const fees = isPancake ? [0n, 0n] : [];
    return [...transfers, { address, topics: [swap, ...who], data: data([...words, ...fees]) }];
  }
}

/** Returns the price and liquidity of a V3 pool with these virtual reserves. */
export function rangeOf({ rest }: SyntheticPool, { quote }: Reserves) {
  const atRest = root((rest.quote << 192n) / rest.token);
  const sqrtPriceX96 = (atRest * quote) / rest.quote;
  const tick = Math.floor((2 * Math.log(Number(sqrtPriceX96) / 2 ** 96)) / Math.log(1.0001));
  return { sqrtPriceX96, tick, liquidity: (rest.quote << 96n) / atRest };
}

/** Returns an address by kind: 0 token, 1 pool, 2 new token, 3 its pool, 4 wallet, 5 another. */
export function addressOf(chainId: number, kind: number, number: number): string {
  const start = kind === 0 || kind === 2 ? "00" : "f0";
  const text = [
    chainId.toString(16).padStart(6, "0"),
    kind.toString(16),
    number.toString(16).padStart(31, "0"),
  ];
  return `0x${start}${text.join("")}`;
}

function transfer(token: string, from: string, to: string, units: bigint): LogSpec {
  return { address: token, topics: [TRANSFER, wordOf(from), wordOf(to)], data: data([units]) };
}

function wordOf(address: string): string {
  return `0x${address.slice(2).padStart(64, "0")}`;
}

function data(words: readonly bigint[]): string {
  return `0x${words.map((word) => BigInt.asUintN(256, word).toString(16).padStart(64, "0")).join("")}`;
}

/** Returns the integer part of the square root. */
function root(value: bigint): bigint {
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (guess + value / guess) / 2n;
    if (next >= guess) return guess;
    guess = next;
  }
}
