import type { Abi } from "ox/Abi";
import type { LiquidityEvent } from "../../../../base/market/index.ts";
import type { Factory, PoolFormName } from "../../network.ts";
import type { LogReader, PoolCreated, PoolEvent } from "./pool-log.ts";

/** A call of a contract. */
export interface Call {
  readonly abi: Abi;
  readonly address: string;
  readonly functionName: string;
  readonly args?: readonly unknown[];
}

/** A call's result; `undefined` if the contract failed or returned another type. */
export type Result = unknown;

/**
 * Calls contracts in rounds: yields the calls of a round, receives their results in the same order,
 * and finally returns a value derived from them. The caller combines the rounds of many inquiries.
 */
export type Inquiry<T> = Generator<readonly Call[], T, readonly Result[]>;

/** A pool that is known only by its logs. */
export interface UnknownPool {
  /** Its address or, in a singleton, its id. */
  readonly pool: string;
  readonly form: PoolFormName;
  /** The contract that emits its logs. */
  readonly emitter: string;
}

/** The facts about a pool that never change. A factory of the network has confirmed them. */
export interface PoolIdentity extends Pick<UnknownPool, "pool" | "form"> {
  readonly factory: string;
  readonly token0: string;
  readonly token1: string;
  /** `positions`: ticks between possible ends of positions. Bins: basis points between prices. */
  readonly step?: number;
  /** The shape of a launchpad's curve, if its logs do not report its funds. */
  readonly curve?: CurveShape;
}

/**
 * How a curve's funds follow from what its logs report. With `invariant`, a constant product with
 * virtual funds: (funds + `virtualFunds`)² is `invariant` times the price, all in 10^−18. With
 * `scaler`, a polynomial of the whole tokens sold:
 * (2 · `quadratic` · s³ + 3 · `linear` · s²) / (6 · `scaler`).
 */
export type CurveShape =
  | { readonly virtualFunds: bigint; readonly invariant: bigint }
  | { readonly scaler: bigint; readonly quadratic: bigint; readonly linear: bigint };

/** A pool that was looked up, with its state. */
export interface PoolFacts extends PoolIdentity {
  readonly state: PoolState;
}

/** Why a pool's liquidity changed. */
export type Cause = LiquidityEvent["cause"];

/** A pool's contents, updated by its logs. Amounts are in the tokens' smallest units. */
export interface PoolState {
  /** Whether the pool never had real liquidity, as far as known. */
  isFresh: boolean;
  /**
   * Whether the price is near parts of the pool that are not known, so that it must be looked up
   * again.
   */
  readonly isOutdated?: boolean;
  /**
   * Applies a log of the pool. `follower` returns its next log, if that directly follows in the
   * same transaction. Returns why the liquidity changed, if it did.
   */
  apply(event: PoolEvent, blockNumber: number, follower: () => PoolEvent | undefined): Cause | undefined;
  /**
   * Applies a transfer of a quote token into the pool, or out of it if negative. Only for forms
   * whose own logs do not report their whole contents.
   */
  transfer?(side: 0 | 1, units: bigint, blockNumber: number): void;
  /** Depth near the price on a side; `undefined` while unknown. */
  depth(side: 0 | 1): bigint | undefined;
  /** Everything that traders can take on a side. Only for forms that may know no depth. */
  tradable?(side: 0 | 1): bigint | undefined;
  /** The price as units of token 1 per units of token 0; `undefined` while there is none. */
  ratio(): readonly [bigint, bigint] | undefined;
}

/** Everything specific to one kind of pool. */
export interface PoolForm {
  /** Decoders of its logs, by the events' signatures. */
  readonly readers: Readonly<Record<string, LogReader>>;
  /** Whether one contract has all pools, which then have ids instead of addresses. */
  readonly isSingleton: boolean;
  create(log: PoolCreated): PoolState;
  /** Lists pools of two tokens, as candidates for {@link identify}. */
  find(factory: Factory, first: string, second: string): Inquiry<readonly string[]>;
  /** Identifies a pool. Any contract can name a factory, so the factory itself must confirm it. */
  identify(pool: UnknownPool, factories: ReadonlyMap<string, Factory>): Inquiry<PoolIdentity | undefined>;
  /** Reads the state of a pool at the end of block `atBlock`. */
  readState(pool: PoolIdentity, factory: Factory, atBlock: number): Inquiry<PoolState>;
}

/** Returns no pools, because a singleton cannot list its pools by their tokens. */
// biome-ignore lint/correctness/useYield: it makes no calls.
export function* noPools(): Inquiry<readonly string[]> {
  return [];
}

/** Returns whether a result is an address, with letters of either case. */
export function isAddress(result: Result): result is string {
  return typeof result === "string" && /^0x[0-9a-fA-F]{40}$/.test(result);
}

/** Returns the address in a result, in lower case; `undefined` for anything else and for zero. */
export function addressOf(result: Result): string | undefined {
  return isAddress(result) && !/^0x0+$/.test(result) ? result.toLowerCase() : undefined;
}
