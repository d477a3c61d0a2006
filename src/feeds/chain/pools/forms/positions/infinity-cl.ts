import * as Abi from "ox/Abi";
import { readInfinityKey } from "../identify.ts";
import { rangeOf } from "../ranges.ts";
import type { PoolManager } from "./manager.ts";

/*
 * PancakeSwap Infinity's CLPoolManager: https://github.com/pancakeswap/infinity-core
 * (src/pool-cl). It stores the tokens of each pool id.
 */

const ABI = Abi.from([
  "function getSlot0(bytes32) view returns (uint160, int24, uint24, uint24)",
  "function getLiquidity(bytes32) view returns (uint128)",
  "function getPoolBitmapInfo(bytes32, int16) view returns (uint256)",
  // The first two words of the longer result are enough.
  "function getPoolTickInfo(bytes32, int24) view returns (uint128, int128)",
]);
/** The tick spacing is in the parameters, above the bits of the hooks. */
const HOOK_BITS = 16n;
const SPACING_BITS = 24;

export const INFINITY_CL: PoolManager = {
  *readKey(pool, { address }) {
    const key = yield* readInfinityKey(pool, address);
    if (!key) return undefined;
    const { parameters, ...tokens } = key;
    return { ...tokens, step: Number(BigInt.asIntN(SPACING_BITS, parameters >> HOOK_BITS)) };
  },
  source(pool, { address }) {
    const call = (functionName: string, ...args: readonly unknown[]) =>
      ({ abi: ABI, address, functionName, args: [pool, ...args] }) as const;
    return {
      *range() {
        const [slot, liquidity] = yield [call("getSlot0"), call("getLiquidity")];
        return rangeOf(slot, liquidity);
      },
      *bitmaps(words) {
        const bitmaps = yield words.map((word) => call("getPoolBitmapInfo", word));
        return bitmaps.map((bitmap) => (typeof bitmap === "bigint" ? bitmap : undefined));
      },
      *nets(ticks) {
        const infos = yield ticks.map((tick) => call("getPoolTickInfo", tick));
        return infos.map((info) => {
          const net: unknown = Array.isArray(info) ? info[1] : undefined;
          return typeof net === "bigint" ? net : undefined;
        });
      },
    };
  },
};
