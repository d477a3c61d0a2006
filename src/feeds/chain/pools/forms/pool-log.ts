import type { PoolFormName } from "../../network.ts";
import { countWords, type EvmLog, readAddress, readUint } from "../evm-log.ts";

/** A factory created a pool. `factory` is the log's emitter, which must be a known factory. */
export interface PoolCreated {
  readonly kind: "created";
  readonly form: PoolFormName;
  readonly factory: string;
  readonly pool: string;
  readonly token0: string;
  readonly token1: string;
  /** `positions`: the price at the start. */
  readonly range?: PriceRange;
  /** Bins: basis points between the prices of neighboring ones. */
  readonly step?: number;
  /** Bins of a singleton: the id of the active bin at the start. */
  readonly activeId?: number;
}

/** The price of a pool of ranges, and the liquidity in range. */
export interface PriceRange {
  /** √(token1 / token0) × 2⁹⁶. */
  readonly sqrtPriceX96: bigint;
  /** Tick of that price as the pool reports it: at the edge of a tick, the price is ambiguous. */
  readonly tick: number;
  /** Sum of the liquidity of all positions with `lower` ≤ `tick` < `upper`. */
  readonly liquidity: bigint;
}

/** A V3 pool got its first price. It has no liquidity yet. */
export interface Initialized {
  readonly kind: "initialized";
  readonly form: "v3";
  readonly range: PriceRange;
}

/** A swap's amounts in the tokens' smallest units; positive if the pool received them. */
export interface Swap {
  readonly kind: "swap";
  readonly form: PoolFormName;
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** Forms of ranges: the range after the swap. */
  readonly range?: PriceRange;
  /** Forms of bins: the active bin after the swap, and the total amounts that the bins received. */
  readonly bin?: BinAmounts;
  /** Launchpads: the curve, named by its token or by its number in 32 bytes. */
  readonly pool?: string;
  /** Launchpads: the account that bought or sold. */
  readonly account?: string;
  /** Launchpads: the funds after the swap, its price in 10^−18, or the whole tokens sold. */
  readonly curve?: { readonly funds?: bigint; readonly price?: bigint; readonly sold?: bigint };
}

/** The reserves of a V2 pool, reported at every change, before the log of its reason. */
export interface Sync {
  readonly kind: "sync";
  readonly form: "v2";
  readonly reserve0: bigint;
  readonly reserve1: bigint;
}

/**
 * Makers add or remove tokens. A `burn` of a V3 form owes amounts; `collect` pays them, and fees.
 */
export interface MakerMove {
  readonly kind: "mint" | "burn" | "collect";
  readonly form: "v2" | "v3";
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** For `mint` and `burn` of V3 forms: the liquidity that was added or removed, and its ticks. */
  readonly position?: { readonly lower: number; readonly upper: number; readonly liquidity: bigint };
}

/** A maker adds liquidity to a singleton's pool between two ticks, or removes it if negative. */
export interface PositionMove {
  readonly kind: "position";
  readonly form: "positions";
  readonly lower: number;
  readonly upper: number;
  readonly liquidity: bigint;
}

/** A bin, and its amounts of either token or their changes. */
export interface BinAmounts {
  readonly id: number;
  readonly amounts: readonly [bigint, bigint];
}

/** Makers fill bins or empty them. */
export interface BinMove {
  readonly kind: "bins";
  readonly form: "bins" | "infinity-bin";
  readonly isAdded: boolean;
  readonly changes: readonly BinAmounts[];
}

/** A launchpad offers a token, or has moved the funds of its curve to a pool. */
export interface CurveMove {
  readonly kind: "launched" | "graduated";
  readonly form: "curve";
  /** As in {@link Swap}. */
  readonly pool: string;
}

/** The decoded events of existing pools. */
export type PoolEvent = Initialized | Swap | Sync | MakerMove | PositionMove | BinMove | CurveMove;

/** The decoded events of pools. */
export type PoolLog = PoolCreated | PoolEvent;

/** Decodes a log; `undefined` if it does not match its topic. */
export type LogReader = (log: EvmLog) => PoolLog | undefined;

export const MAX_UINT128 = (1n << 128n) - 1n;
export const MAX_UINT160 = (1n << 160n) - 1n;

/** Returns whether the log has this many topics and words of data. */
export function isShaped(log: EvmLog, topics: number, words: number): boolean {
  return log.topics.length === topics && countWords(log.data) === words;
}

/** Reads the creation of a pool: its tokens are two topics, its address is in the data. */
export function readCreated(
  log: EvmLog,
  form: PoolFormName,
  topics: number,
  words: number,
  poolWord: number,
  tokenTopic = 1,
): PoolCreated | undefined {
  if (!isShaped(log, topics, words)) return undefined;
  const token0 = readAddress(log.topics[tokenTopic] ?? "", 0);
  const token1 = readAddress(log.topics[tokenTopic + 1] ?? "", 0);
  const pool = readAddress(log.data, poolWord);
  if (token0 === undefined || token1 === undefined || pool === undefined) return undefined;
  return { kind: "created", form, factory: log.address, pool, token0, token1 };
}

/** Reads the creation of a singleton's pool: its id and its tokens are topics. */
export function readInitialize(log: EvmLog, form: PoolFormName, words: number): PoolCreated | undefined {
  const [, pool, first = "", second = ""] = log.topics;
  const token0 = readAddress(first, 0);
  const token1 = readAddress(second, 0);
  if (!isShaped(log, 4, words) || pool === undefined || token0 === undefined || token1 === undefined)
    return undefined;
  return { kind: "created", form, factory: log.address, pool, token0, token1 };
}

/** Reads two amounts of makers, from the word `first` on; `undefined` if one is above `max`. */
export function readMove(
  log: EvmLog,
  kind: MakerMove["kind"],
  form: MakerMove["form"],
  topics: number,
  words: number,
  first: number,
  max?: bigint,
): MakerMove | undefined {
  if (!isShaped(log, topics, words)) return undefined;
  const amount0 = readUint(log.data, first);
  const amount1 = readUint(log.data, first + 1);
  if (max !== undefined && (amount0 > max || amount1 > max)) return undefined;
  return { kind, form, amount0, amount1 };
}
