import * as Abi from "ox/Abi";
import * as AbiFunction from "ox/AbiFunction";
import * as AbiParameters from "ox/AbiParameters";
import type { Hex } from "ox/Hex";
import { decodeCalls, encodeResults, MULTICALL3 } from "./multicall.ts";
import { FEE, rangeOf, type SyntheticMarket, type SyntheticPool } from "./synthetic-market.ts";

const ABI = Abi.from([
  "function decimals() view returns (uint8)",
  "function symbol() view returns (string)",
  "function name() view returns (string)",
  "function balanceOf(address) view returns (uint256)",
  "function factory() view returns (address)",
  "function token0() view returns (address)",
  "function token1() view returns (address)",
  "function fee() view returns (uint24)",
  "function getReserves() view returns (uint112, uint112, uint32)",
  "function slot0() view returns (uint160, int24, uint16, uint16, uint16, uint32, bool)",
  "function liquidity() view returns (uint128)",
  "function getPair(address, address) view returns (address)",
  "function getPool(address, address, uint24) view returns (address)",
]);
/** Functions by selector. A search in the ABI would hash all signatures again for each call. */
const FUNCTIONS = new Map(ABI.map((item) => [AbiFunction.getSelector(item), item]));
/** A precompile that exists on every chain (EIP-152). */
const BLAKE2F = `0x${"9".padStart(40, "0")}`;
const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

/** Answers calls of a synthetic market's contracts, one at a time or batched. */
export class ContractCalls {
  readonly #market: SyntheticMarket;
  readonly #pools = new Map<string, SyntheticPool>();
  readonly #tokens = new Map<string, { readonly symbol: string; readonly decimals: number }>();
  readonly #code = new Set<string>([MULTICALL3]);

  constructor(market: SyntheticMarket) {
    this.#market = market;
    const { network, pools, anchor } = market;
    for (const { address } of [...network.factories, ...network.quotes]) this.#code.add(address);
    for (const { address, symbol, decimals } of network.quotes)
      this.#tokens.set(address, { symbol, decimals });
    for (const [index, pool] of pools.entries())
      this.add(pool, `${network.name.slice(0, 3).toUpperCase()}${index}`);
    this.#pools.set(anchor.address, anchor);
  }

  /** Adds a pool and its token. */
  add(pool: SyntheticPool, symbol: string): void {
    this.#pools.set(pool.address, pool);
    this.#tokens.set(pool.token, { symbol, decimals: 18 });
  }

  hasCode(address: string): boolean {
    const lower = address.toLowerCase();
    return this.#code.has(lower) || this.#pools.has(lower) || this.#tokens.has(lower);
  }

  /** Returns the result of a call at the end of a block; `undefined` if it reverts. */
  call(to: string, input: Hex, number: number): Hex | undefined {
    const target = to.toLowerCase();
    return target === MULTICALL3 ? this.#callAll(input, number) : this.#callOne(target, input, number);
  }

  #callAll(input: Hex, number: number): Hex | undefined {
    const results = decodeCalls(input).map(({ target, callData }) => {
      const returnData = this.call(target, callData, number);
      return { success: returnData !== undefined, returnData: returnData ?? "0x" };
    });
    return encodeResults(results);
  }

  #callOne(to: string, input: Hex, number: number): Hex | undefined {
    // Callers only probe that the precompile exists, so the hash may be wrong.
    if (to === BLAKE2F) return input.length === 2 + 2 * 213 ? `0x${"00".repeat(64)}` : undefined;
    const item = FUNCTIONS.get(input.slice(0, 10) as Hex);
    if (!item) return undefined;
    const args = AbiParameters.decode(item.inputs, `0x${input.slice(10)}`);
    const words = args.map((arg) => String(arg).toLowerCase());
    const found = this.#result(to, item.name, words, number);
    if (found === undefined) return undefined;
    return AbiFunction.encodeResult(item, found as never);
  }

  #result(to: string, name: string, args: readonly string[], number: number): unknown {
    const token = this.#tokens.get(to);
    if (token) return this.#ofToken(to, token, name, args, number);
    const pool = this.#pools.get(to);
    if (pool) return this.#ofPool(pool, name, number);
    if (name === "getPair" || name === "getPool") return this.#poolOf(to, args);
    return undefined;
  }

  #ofToken(
    address: string,
    { symbol, decimals }: { readonly symbol: string; readonly decimals: number },
    name: string,
    [owner = ""]: readonly string[],
    number: number,
  ): unknown {
    if (name === "decimals") return decimals;
    if (name === "symbol") return symbol;
    if (name === "name") return `${symbol} coin`;
    if (name !== "balanceOf") return undefined;
    const pool = this.#pools.get(owner);
    if (!pool) return 0n;
    const reserves = this.#market.reservesAt(pool, number);
    return address === pool.token ? reserves.token : reserves.quote;
  }

  #ofPool(pool: SyntheticPool, name: string, number: number): unknown {
    const reserves = this.#market.reservesAt(pool, number);
    if (name === "factory") return pool.factory;
    if (name === "token0") return pool.token;
    if (name === "token1") return pool.quote;
    if (pool.form === "v2") return name === "getReserves" ? [reserves.token, reserves.quote, 0] : undefined;
    const { sqrtPriceX96, tick, liquidity } = rangeOf(pool, reserves);
    if (name === "fee") return FEE;
    if (name === "slot0") return [sqrtPriceX96, tick, 0, 1, 1, 0, true];
    return name === "liquidity" ? liquidity : undefined;
  }

  /** Returns the factory's pool of two tokens. */
  #poolOf(factory: string, [first = "", second = "", fee]: readonly string[]): string | undefined {
    if (!this.#market.network.factories.some(({ address }) => address === factory)) return undefined;
    const [token, quote] = [first, second].toSorted();
    const found = [...this.#pools.values()].find(
      (pool) => pool.factory === factory && pool.token === token && pool.quote === quote,
    );
    const isOfFee = fee === undefined || Number(fee) === FEE;
    return found && isOfFee ? found.address : ZERO_ADDRESS;
  }
}
