import * as Abi from "ox/Abi";
import type { Factory } from "../../network.ts";
import { type EvmLog, readUint } from "../evm-log.ts";
import { identifyPair } from "./identify.ts";
import { addressOf, type Cause, type Inquiry, type PoolForm, type PoolState } from "./pool-form.ts";
import {
  isShaped,
  type PoolCreated,
  type PoolEvent,
  readCreated,
  readMove,
  type Swap,
  type Sync,
} from "./pool-log.ts";

/*
 * V2: a contract for each pool, with two reserves at x·y = k. It reports its reserves at every
 * change. Solidly's pairs do the same with wider numbers, and so do Velodrome's, with other events.
 * Their stable pairs have another curve, on which the ratio of the reserves is not the price, and
 * are ignored.
 */

const MAX_UINT112 = (1n << 112n) - 1n;
const ABI = Abi.from([
  "function getPair(address, address) view returns (address)",
  "function getReserves() view returns (uint256, uint256)",
]);

/** With whether a pair is stable. */
const STABLE_ABI = Abi.from([
  "function getPair(address, address, bool) view returns (address)",
  "function getPool(address, address, bool) view returns (address)",
]);

/** Decoders of the events, by their signatures. */
const readers: PoolForm["readers"] = {
  "PairCreated(address,address,address,uint256)": (log) => readCreated(log, "v2", 3, 2, 0),
  "PairCreated(address,address,bool,address,uint256)": (log) =>
    unlessStable(readCreated(log, "v2", 3, 3, 1), log.data),
  "PoolCreated(address,address,bool,address,uint256)": (log) =>
    unlessStable(readCreated(log, "v2", 4, 2, 0), log.topics[3]),
  "Sync(uint256,uint256)": (log) => readSync(log),
  "Sync(uint112,uint112)": (log) => readSync(log, MAX_UINT112),
  "Swap(address,uint256,uint256,uint256,uint256,address)": readSwap,
  "Swap(address,address,uint256,uint256,uint256,uint256)": readSwap,
  "Mint(address,uint256,uint256)": (log) => readMove(log, "mint", "v2", 2, 2, 0),
  "Burn(address,uint256,uint256,address)": (log) => readMove(log, "burn", "v2", 3, 2, 0),
  "Burn(address,address,uint256,uint256)": (log) => readMove(log, "burn", "v2", 3, 2, 0),
};

/** Two reserves, which the pool itself reports. */
export class ReserveState implements PoolState {
  isFresh: boolean;
  #reserves: readonly [bigint, bigint] | undefined;

  /** `reserves` are `undefined` if they could not be read. */
  constructor(reserves: readonly [bigint, bigint] | undefined) {
    this.#reserves = reserves;
    this.isFresh = reserves?.every((units) => units === 0n) ?? false;
  }

  apply(event: PoolEvent, _blockNumber: number, follower: () => PoolEvent | undefined): Cause | undefined {
    // The pool logs its reserves first, and the reason in a second log.
    if (event.kind !== "sync") return undefined;
    const { reserve0, reserve1 } = event;
    this.#reserves = [reserve0, reserve1];
    const next = follower();
    if (next?.kind === "burn") return "remove";
    if (next?.kind !== "mint") return "sync";
    // The makers just added everything in the pool, so it was empty. That happens once, because a
    // V2 pool locks a little of its first liquidity.
    if (next.amount0 === reserve0 && next.amount1 === reserve1) this.isFresh = true;
    return "add";
  }

  depth(side: 0 | 1): bigint | undefined {
    return this.#reserves?.[side];
  }

  ratio(): readonly [bigint, bigint] | undefined {
    const [first, second] = this.#reserves ?? [0n, 0n];
    return first > 0n && second > 0n ? [second, first] : undefined;
  }
}

export const V2: PoolForm = {
  readers,
  isSingleton: false,
  create: () => new ReserveState([0n, 0n]),
  find: lookUp,
  identify: (pool, factories) => identifyPair(pool, factories, lookUp),
  *readState({ pool }) {
    const [reserves] = yield [{ abi: ABI, address: pool, functionName: "getReserves" }];
    const [first, second]: readonly unknown[] = Array.isArray(reserves) ? reserves : [];
    const isComplete = typeof first === "bigint" && typeof second === "bigint";
    return new ReserveState(isComplete ? [first, second] : undefined);
  },
};

function* lookUp({ address, form }: Factory, first: string, second: string): Inquiry<readonly string[]> {
  const functionName = form === "velodrome" ? "getPool" : "getPair";
  const [pair] = yield [
    form === "v2"
      ? { address, functionName, abi: ABI, args: [first, second] }
      : { address, functionName, abi: STABLE_ABI, args: [first, second, false] },
  ];
  return [addressOf(pair) ?? []].flat();
}

/** Ignores stable pairs. The first word of `flag` says whether the pair is one. */
function unlessStable(created: PoolCreated | undefined, flag = ""): PoolCreated | undefined {
  return created && readUint(flag, 0) === 0n ? created : undefined;
}

function readSync(log: EvmLog, max?: bigint): Sync | undefined {
  if (!isShaped(log, 1, 2)) return undefined;
  const reserve0 = readUint(log.data, 0);
  const reserve1 = readUint(log.data, 1);
  if (max !== undefined && (reserve0 > max || reserve1 > max)) return undefined;
  return { kind: "sync", form: "v2", reserve0, reserve1 };
}

/**
 * A V2 pool reports amounts received (net of a token's own fee) and sent. Both can occur for one
 * token, so the difference counts.
 */
function readSwap(log: EvmLog): Swap | undefined {
  if (!isShaped(log, 3, 4)) return undefined;
  const amount0 = readUint(log.data, 0) - readUint(log.data, 2);
  const amount1 = readUint(log.data, 1) - readUint(log.data, 3);
  return { kind: "swap", form: "v2", amount0, amount1 };
}
