import * as Abi from "ox/Abi";
import type { Factory, FactoryForm } from "../../network.ts";
import { type EvmLog, readInt, readInt24, readUint } from "../evm-log.ts";
import { identifyPair } from "./identify.ts";
import {
  addressOf,
  type Call,
  type Cause,
  type Inquiry,
  type PoolForm,
  type PoolState,
  type Result,
} from "./pool-form.ts";
import {
  type Initialized,
  isShaped,
  MAX_UINT128,
  MAX_UINT160,
  type MakerMove,
  type PoolEvent,
  type PriceRange,
  readCreated,
  readMove,
  type Swap,
} from "./pool-log.ts";

/*
 * V3 and its relatives: a contract for each pool, in which makers choose ranges of the price.
 * Swaps report the price and the liquidity in range. PancakeSwap V3, Slipstream, Ramses V3, Algebra
 * and Algebra Integral have the same events, some with extra words. Slipstream, Ramses and Algebra
 * have their own look-ups.
 */

/** What distinguishes a factory's pools of two tokens. */
const TIERS: Partial<Record<FactoryForm, readonly number[]>> = {
  /** Fees, in hundredths of a basis point. */
  v3: [100, 500, 2_500, 3_000, 10_000],
  /** The tick spacings of Slipstream and Ramses. */
  "v3-spacing": [1, 5, 10, 50, 100, 200, 2_000],
};
const ABI = Abi.from([
  "function getPool(address, address, uint24) view returns (address)",
  "function poolByPair(address, address) view returns (address)",
  "function customPoolByPair(address, address, address) view returns (address)",
  // The first two words of the longer results of slot0 and globalState are enough.
  "function slot0() view returns (uint160, int24)",
  "function globalState() view returns (uint160, int24)",
  "function liquidity() view returns (uint128)",
  "function balanceOf(address) view returns (uint256)",
]);
const SPACING_ABI = Abi.from(["function getPool(address, address, int24) view returns (address)"]);

/** Decoders of the events, by their signatures. */
const readers: PoolForm["readers"] = {
  "PoolCreated(address,address,uint24,int24,address)": (log) => readCreated(log, "v3", 4, 2, 1),
  "PoolCreated(address,address,int24,address)": (log) => readCreated(log, "v3", 4, 1, 0),
  "Pool(address,address,address)": (log) => readCreated(log, "v3", 3, 1, 0),
  "CustomPool(address,address,address,address)": (log) => readCreated(log, "v3", 4, 1, 0, 2),
  "Initialize(uint160,int24)": readInitialized,
  "Swap(address,address,int256,int256,uint160,uint128,int24)": (log) => readSwap(log, 5),
  // PancakeSwap V3 appends the protocol's fees of either token to the fields of Uniswap's event.
  "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)": (log) => readSwap(log, 7),
  // Algebra Integral appends the fees of its plugins.
  "Swap(address,address,int256,int256,uint160,uint128,int24,uint24,uint24)": (log) => readSwap(log, 7),
  "Burn(address,int24,int24,uint128,uint256,uint256,uint24)": (log) => readPositionMove(log, "burn", 4, 0),
  "Mint(address,address,int24,int24,uint128,uint256,uint256)": (log) => readPositionMove(log, "mint", 4, 1),
  // Ramses adds the index of the owner's position.
  "Mint(address,address,uint256,int24,int24,uint128,uint256,uint256)": (log) =>
    readPositionMove(log, "mint", 5, 2),
  "Burn(address,int24,int24,uint128,uint256,uint256)": (log) => readPositionMove(log, "burn", 3, 0),
  "Collect(address,address,int24,int24,uint128,uint128)": (log) =>
    readMove(log, "collect", "v3", 4, 3, 1, MAX_UINT128),
};

/** Balances, price and liquidity in range at the end of a block, and that block. */
interface RangeFacts {
  /** `undefined` if they could not be read. */
  readonly balances: readonly [bigint, bigint] | undefined;
  /** `undefined` if unknown or without a price. */
  readonly range: PriceRange | undefined;
  /** −1: the pool was created just now. */
  readonly atBlock: number;
}

/**
 * Balances and the liquidity in range. Only the balances of quote tokens are current. They follow
 * the tokens' own transfers, because protocol fees leave these pools without a log.
 */
export class RangeState implements PoolState {
  isFresh: boolean;
  readonly #balances: [bigint, bigint];
  readonly #isCounted: boolean;
  readonly #countedAtBlock: number;
  /** The part of the balances that makers removed from their ranges but did not collect. */
  #owed: readonly [bigint, bigint] = [0n, 0n];
  #range: PriceRange | undefined;
  /** The block whose positions the range includes. −1 once the pool's own logs report it. */
  #rangeAtBlock: number;

  constructor({ balances, range, atBlock }: RangeFacts) {
    this.#balances = [balances?.[0] ?? 0n, balances?.[1] ?? 0n];
    this.#isCounted = balances !== undefined;
    this.#countedAtBlock = atBlock;
    this.#range = range;
    this.#rangeAtBlock = atBlock;
    this.isFresh = balances?.every((units) => units === 0n) ?? false;
  }

  apply(event: PoolEvent, blockNumber: number): Cause | undefined {
    if (event.kind === "initialized" || event.kind === "swap") {
      this.#enterRange(event);
      return event.kind === "swap" ? "sync" : undefined;
    }
    if (event.form === "curve") return undefined;
    if (event.kind === "sync" || event.kind === "position" || event.kind === "bins") return undefined;
    if (blockNumber > this.#rangeAtBlock) this.#enterPosition(event);
    const { kind, amount0, amount1 } = event;
    if (amount0 === 0n && amount1 === 0n) return undefined;
    if (kind === "mint") return "add";
    const [owed0, owed1] = this.#owed;
    if (kind === "burn") {
      this.#owed = [owed0 + amount0, owed1 + amount1];
      return "remove";
    }
    // The maker collects owed amounts, fees or both. Only the fees still counted as liquidity.
    this.#owed = [owed0 > amount0 ? owed0 - amount0 : 0n, owed1 > amount1 ? owed1 - amount1 : 0n];
    return amount0 > owed0 || amount1 > owed1 ? "sync" : undefined;
  }

  transfer(side: 0 | 1, units: bigint, blockNumber: number): void {
    if (blockNumber > this.#countedAtBlock) this.#balances[side] += units;
  }

  /**
   * The smaller of the balance and the virtual reserve of the liquidity in range: a position out of
   * range adds no depth, and a narrow range is no deeper than the balance. If one pool has a narrow
   * range and a position out of range, the latter counts up to the virtual reserve of the former.
   */
  depth(side: 0 | 1): bigint | undefined {
    const balance = this.tradable(side);
    if (balance === undefined || !this.#range) return undefined;
    const near = virtualReserve(this.#range, side);
    return near < balance ? near : balance;
  }

  /** The balance without amounts that makers have removed from their ranges. */
  tradable(side: 0 | 1): bigint | undefined {
    if (!this.#isCounted) return undefined;
    const units = this.#balances[side] - this.#owed[side];
    return units > 0n ? units : 0n;
  }

  ratio(): readonly [bigint, bigint] | undefined {
    return this.#range && ratioOf(this.#range);
  }

  /**
   * Applies a reported price. A swap reports the whole range. An initial price counts only if the
   * range is unknown: a state read from the chain is more recent.
   */
  #enterRange(event: Initialized | Swap): void {
    if (!event.range || (event.kind === "initialized" && this.#range)) return;
    this.#range = event.range;
    this.#rangeAtBlock = -1;
  }

  /**
   * Applies liquidity added or removed around the current tick, which changes the liquidity in
   * range.
   */
  #enterPosition({ kind, position }: MakerMove): void {
    if (!position) return;
    const { lower, upper, liquidity } = position;
    this.#range &&= rangeAfter(this.#range, lower, upper, kind === "mint" ? liquidity : -liquidity);
  }
}

/**
 * Virtual reserve of the liquidity in range: L / √P of token 0, L · √P of token 1 (Uniswap v3
 * whitepaper, 6.1).
 */
export function virtualReserve({ sqrtPriceX96, liquidity }: PriceRange, side: 0 | 1): bigint {
  if (sqrtPriceX96 === 0n) return 0n;
  return side === 0 ? (liquidity << 96n) / sqrtPriceX96 : (liquidity * sqrtPriceX96) >> 96n;
}

/** Rate of a price as units of token 1 and of token 0; `undefined` without a price. */
export function ratioOf({ sqrtPriceX96 }: PriceRange): readonly [bigint, bigint] | undefined {
  return sqrtPriceX96 > 0n ? [sqrtPriceX96 * sqrtPriceX96, 1n << 192n] : undefined;
}

/**
 * Adds liquidity (negative: removes it) between two ticks to the range, if the current tick is
 * between them.
 */
export function rangeAfter(range: PriceRange, lower: number, upper: number, liquidity: bigint): PriceRange {
  if (range.tick < lower || range.tick >= upper) return range;
  const after = range.liquidity + liquidity;
  return { ...range, liquidity: after > 0n ? after : 0n };
}

export const V3: PoolForm = {
  readers,
  isSingleton: false,
  create: () => new RangeState({ balances: [0n, 0n], range: undefined, atBlock: -1 }),
  find: (factory, first, second) => lookUp(factory, first, second, TIERS[factory.form] ?? []),
  identify: (pool, factories) =>
    identifyPair(pool, factories, (factory, token0, token1, tier) => lookUp(factory, token0, token1, [tier])),
  *readState({ pool, token0, token1 }, { form }, atBlock) {
    const balanceOf = { abi: ABI, functionName: "balanceOf", args: [pool] } as const;
    const [state, liquidity, first, second] = yield [
      { abi: ABI, address: pool, functionName: form === "algebra" ? "globalState" : "slot0" },
      { abi: ABI, address: pool, functionName: "liquidity" },
      { ...balanceOf, address: token0 },
      { ...balanceOf, address: token1 },
    ];
    const isComplete = typeof first === "bigint" && typeof second === "bigint";
    const balances = isComplete ? ([first, second] as const) : undefined;
    return new RangeState({ balances, range: rangeOf(state, liquidity), atBlock });
  },
};

/** Returns the range in a contract's results; `undefined` without a price. */
export function rangeOf(slot: Result, liquidity: Result): PriceRange | undefined {
  const [sqrtPriceX96, tick]: readonly unknown[] = Array.isArray(slot) ? slot : [];
  if (typeof sqrtPriceX96 !== "bigint" || typeof tick !== "number" || typeof liquidity !== "bigint")
    return undefined;
  return sqrtPriceX96 > 0n ? { sqrtPriceX96, tick, liquidity } : undefined;
}

/**
 * Looks up a factory's pools of two tokens: of V3, one for each tier; of Algebra, the standard pool
 * and one for each deployer of custom pools.
 */
function* lookUp(
  { address, form, deployers = [] }: Factory,
  first: string,
  second: string,
  tiers: readonly number[],
): Inquiry<readonly string[]> {
  const call = (functionName: string, ...args: readonly unknown[]): Call => ({
    abi: form === "v3-spacing" ? SPACING_ABI : ABI,
    address,
    functionName,
    args,
  });
  const pools = yield form === "algebra"
    ? [
        call("poolByPair", first, second),
        ...deployers.map((deployer) => call("customPoolByPair", deployer, first, second)),
      ]
    : tiers.map((tier) => call("getPool", first, second, tier));
  return pools.flatMap((pool) => addressOf(pool) ?? []);
}

function readInitialized(log: EvmLog): Initialized | undefined {
  if (!isShaped(log, 1, 2)) return undefined;
  const sqrtPriceX96 = readUint(log.data, 0);
  const tick = readInt24(log.data, 1);
  if (sqrtPriceX96 > MAX_UINT160 || tick === undefined) return undefined;
  return { kind: "initialized", form: "v3", range: { sqrtPriceX96, tick, liquidity: 0n } };
}

function readSwap(log: EvmLog, words: number): Swap | undefined {
  const range = isShaped(log, 3, words) ? readRange(log) : undefined;
  if (!range) return undefined;
  return { kind: "swap", form: "v3", amount0: readInt(log.data, 0), amount1: readInt(log.data, 1), range };
}

/** Reads price, liquidity and tick from the third word on. */
export function readRange({ data }: EvmLog): PriceRange | undefined {
  const sqrtPriceX96 = readUint(data, 2);
  const liquidity = readUint(data, 3);
  const tick = readInt24(data, 4);
  if (sqrtPriceX96 > MAX_UINT160 || liquidity > MAX_UINT128 || tick === undefined) return undefined;
  return { sqrtPriceX96, liquidity, tick };
}

/**
 * Reads a V3 mint or burn. Liquidity and both amounts are words from `first` on; owner and ticks
 * are topics.
 */
function readPositionMove(
  log: EvmLog,
  kind: "mint" | "burn",
  words: number,
  first: number,
): MakerMove | undefined {
  const move = readMove(log, kind, "v3", 4, words, first + 1);
  const lower = readInt24(log.topics[2] ?? "", 0);
  const upper = readInt24(log.topics[3] ?? "", 0);
  if (!move || lower === undefined || upper === undefined) return undefined;
  const liquidity = readUint(log.data, first);
  return liquidity > MAX_UINT128 ? undefined : { ...move, position: { lower, upper, liquidity } };
}
