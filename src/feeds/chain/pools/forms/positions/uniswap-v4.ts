import * as Abi from "ox/Abi";
import * as AbiParameters from "ox/AbiParameters";
import { keccak256 } from "ox/Hash";
import * as Hex from "ox/Hex";
import type { Inquiry } from "../pool-form.ts";
import type { PoolManager } from "./manager.ts";

/*
 * Uniswap V4's PoolManager: https://github.com/Uniswap/v4-core (libraries/StateLibrary.sol). It
 * does not store the tokens of a pool id. The PositionManager does, for pools with positions that
 * were created through it.
 */

const ABI = Abi.from([
  "function poolKeys(bytes25) view returns (address, address, uint24, int24, address)",
  "function extsload(bytes32[]) view returns (bytes32[])",
]);
const POOL_KEY = AbiParameters.from("address, address, uint24, int24, address");

/** Slot of the manager's pools, and offsets of a pool's fields. */
const POOLS_SLOT = 6n;
const LIQUIDITY_OFFSET = 3n;
const TICKS_OFFSET = 4n;
const BITMAP_OFFSET = 5n;
const TICK_BITS = 24;

export const UNISWAP_V4: PoolManager = {
  *readKey(pool, { positionManager }) {
    if (positionManager === undefined) return undefined;
    const args = [pool.slice(0, 2 + 2 * 25)];
    const [key] = yield [{ abi: ABI, address: positionManager, functionName: "poolKeys", args }];
    if (!isPoolKey(key) || keccak256(AbiParameters.encode(POOL_KEY, key)) !== pool) return undefined;
    const [token0, token1, , step] = key;
    return { token0: token0.toLowerCase(), token1: token1.toLowerCase(), step };
  },
  source(pool, { address }) {
    const slot = mappingSlot(BigInt(pool), POOLS_SLOT);
    const load = (slots: readonly bigint[]) => readSlots(address, slots);
    return {
      *range() {
        const [packed, liquidity] = yield* load([slot, slot + LIQUIDITY_OFFSET]);
        if (packed === undefined || liquidity === undefined) return undefined;
        const sqrtPriceX96 = BigInt.asUintN(160, packed);
        if (sqrtPriceX96 === 0n) return undefined;
        const tick = Number(BigInt.asIntN(TICK_BITS, packed >> 160n));
        return { sqrtPriceX96, tick, liquidity: BigInt.asUintN(128, liquidity) };
      },
      bitmaps: (words) => load(words.map((word) => mappingSlot(BigInt(word), slot + BITMAP_OFFSET))),
      *nets(ticks) {
        const infos = yield* load(ticks.map((tick) => mappingSlot(BigInt(tick), slot + TICKS_OFFSET)));
        return infos.map((info) => (info === undefined ? undefined : BigInt.asIntN(256, info) >> 128n));
      },
    };
  },
};

function isPoolKey(key: unknown): key is readonly [Hex.Hex, Hex.Hex, number, number, Hex.Hex] {
  return Array.isArray(key) && typeof key[0] === "string" && typeof key[3] === "number";
}

/** Slot of a mapping's value, by Solidity's layout of storage. */
function mappingSlot(key: bigint, slot: bigint): bigint {
  const word = (value: bigint) => BigInt.asUintN(256, value).toString(16).padStart(64, "0");
  return BigInt(keccak256(`0x${word(key)}${word(slot)}`));
}

function* readSlots(address: string, slots: readonly bigint[]): Inquiry<readonly (bigint | undefined)[]> {
  if (slots.length === 0) return [];
  const args = [slots.map((slot) => Hex.fromNumber(BigInt.asUintN(256, slot), { size: 32 }))];
  const [words] = yield [{ abi: ABI, address, functionName: "extsload", args }];
  return slots.map((_, index) => {
    const word: unknown = Array.isArray(words) ? words[index] : undefined;
    return typeof word === "string" ? BigInt(word) : undefined;
  });
}
