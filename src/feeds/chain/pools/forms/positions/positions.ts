import { type EvmLog, readInt, readInt24, readUint } from "../../evm-log.ts";
import { noPools, type PoolForm } from "../pool-form.ts";
import {
  isShaped,
  MAX_UINT160,
  type PoolCreated,
  type PositionMove,
  readInitialize,
  type Swap,
} from "../pool-log.ts";
import { readRange } from "../ranges.ts";
import { INFINITY_CL } from "./infinity-cl.ts";
import type { PoolManager } from "./manager.ts";
import { PositionState, readPositions } from "./position-state.ts";
import { UNISWAP_V4 } from "./uniswap-v4.ts";

/*
 * Singletons with ranges: one manager has all pools, each with an id. Amounts of swaps are the
 * swapper's: negative if paid in, the opposite of V3. The event omits amounts that a pool's hooks
 * take or add, so those do not count.
 */

/** Decoders of the events, by their signatures. Both managers share the last one. */
const readers: PoolForm["readers"] = {
  "Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)": (log) => readCreation(log),
  "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)": (log) => readSwap(log, 6),
  "Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)": (log) => readCreation(log),
  "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24,uint16)": (log) => readSwap(log, 7),
  "ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)": readModifyLiquidity,
};

const MANAGERS: Readonly<Record<string, PoolManager>> = {
  "uniswap-v4": UNISWAP_V4,
  "infinity-cl": INFINITY_CL,
};

export const POSITIONS: PoolForm = {
  readers,
  isSingleton: true,
  create: ({ range }) => new PositionState({ range, nets: new Map(), atBlock: -1 }),
  find: noPools,
  *identify({ pool, emitter }, factories) {
    const factory = factories.get(emitter);
    const manager = factory && MANAGERS[factory.form];
    const key = manager && (yield* manager.readKey(pool, factory));
    return key && { pool, form: "positions", factory: emitter, ...key };
  },
  *readState({ pool, step = 0 }, factory, atBlock) {
    const manager = MANAGERS[factory.form];
    if (!manager) throw new Error(`${factory.form} is not the form of a singleton`);
    return yield* readPositions(manager.source(pool, factory), step, atBlock);
  },
};

/** Both managers' last words are the price and the tick. */
function readCreation(log: EvmLog): PoolCreated | undefined {
  const created = readInitialize(log, "positions", 5);
  if (!created) return undefined;
  const sqrtPriceX96 = readUint(log.data, 3);
  const tick = readInt24(log.data, 4);
  if (tick === undefined || sqrtPriceX96 > MAX_UINT160) return undefined;
  return { ...created, range: { sqrtPriceX96, tick, liquidity: 0n } };
}

function readSwap(log: EvmLog, words: number): Swap | undefined {
  const range = isShaped(log, 3, words) ? readRange(log) : undefined;
  if (!range) return undefined;
  const amount0 = -readInt(log.data, 0);
  const amount1 = -readInt(log.data, 1);
  return { kind: "swap", form: "positions", amount0, amount1, range };
}

function readModifyLiquidity(log: EvmLog): PositionMove | undefined {
  if (!isShaped(log, 3, 4)) return undefined;
  const lower = readInt24(log.data, 0);
  const upper = readInt24(log.data, 1);
  const liquidity = readInt(log.data, 2);
  if (lower === undefined || upper === undefined) return undefined;
  return { kind: "position", form: "positions", lower, upper, liquidity };
}
