import * as Abi from "ox/Abi";
import { type EvmLog, readInt, readUint } from "../../evm-log.ts";
import { readInfinityKey } from "../identify.ts";
import { noPools, type PoolForm } from "../pool-form.ts";
import { isShaped, type PoolCreated, readInitialize, type Swap } from "../pool-log.ts";
import { MAX_ID, readBinMove } from "./bin-logs.ts";
import { BinState, readBins } from "./bin-state.ts";

/*
 * PancakeSwap Infinity's BinPoolManager: one contract for all pools of bins, each with an id. A
 * swap logs the swapper's amounts and the bin in which it ends, but not the bins that it passes.
 * https://github.com/pancakeswap/infinity-core (src/pool-bin)
 */

const ABI = Abi.from([
  "function getSlot0(bytes32) view returns (uint24, uint24, uint24)",
  "function getBin(bytes32, uint24) view returns (uint128, uint128, uint256, uint256)",
]);
/** The bin step is in the parameters, above the bits of the hooks. */
const HOOK_BITS = 16n;
const STEP_BITS = 16;
/** The protocol's fee is in millionths of the payment. */
const FEE_UNITS = 1_000_000n;

/** Decoders of the events, by their signatures. */
const readers: PoolForm["readers"] = {
  "Initialize(bytes32,address,address,address,uint24,bytes32,uint24)": readCreation,
  "Swap(bytes32,address,int128,int128,uint24,uint24,uint16)": readSwap,
  "Mint(bytes32,address,uint256[],bytes32,bytes32[],bytes32,bytes32)": (log) =>
    readBinMove(log, "infinity-bin", 1n, 2),
  "Burn(bytes32,address,uint256[],bytes32,bytes32[])": (log) => readBinMove(log, "infinity-bin", -1n, 2),
};

export const INFINITY_BIN: PoolForm = {
  readers,
  isSingleton: true,
  create: ({ step = 0, activeId }) => new BinState({ step, activeId, bins: [], atBlock: -1 }),
  find: noPools,
  *identify({ pool, form, emitter }, factories) {
    if (factories.get(emitter)?.form !== "infinity-bin") return undefined;
    const key = yield* readInfinityKey(pool, emitter);
    if (!key) return undefined;
    const { parameters, ...tokens } = key;
    return { pool, form, factory: emitter, ...tokens, step: stepOf(parameters) };
  },
  *readState({ pool, step = 0 }, { address }, atBlock) {
    const call = (functionName: string, ...args: readonly unknown[]) =>
      ({ abi: ABI, address, functionName, args: [pool, ...args] }) as const;
    const [slot] = yield [call("getSlot0")];
    const activeId: unknown = Array.isArray(slot) ? slot[0] : undefined;
    const id = typeof activeId === "number" && activeId > 0 ? activeId : undefined;
    return yield* readBins(step, id, atBlock, (one) => call("getBin", one));
  },
};

function stepOf(parameters: bigint): number {
  return Number(BigInt.asUintN(STEP_BITS, parameters >> HOOK_BITS));
}

function readCreation(log: EvmLog): PoolCreated | undefined {
  const created = readInitialize(log, "infinity-bin", 4);
  const activeId = created ? readUint(log.data, 3) : MAX_ID + 1n;
  if (!created || activeId > MAX_ID) return undefined;
  return { ...created, step: stepOf(readUint(log.data, 2)), activeId: Number(activeId) };
}

/** The protocol's fee is part of the amounts, but goes to no bin. */
function readSwap(log: EvmLog): Swap | undefined {
  const id = isShaped(log, 3, 5) ? readUint(log.data, 2) : MAX_ID + 1n;
  if (id > MAX_ID) return undefined;
  const amount0 = -readInt(log.data, 0);
  const amount1 = -readInt(log.data, 1);
  const fee = readUint(log.data, 4);
  const withoutFee = (amount: bigint) => (amount > 0n ? amount - (amount * fee) / FEE_UNITS : amount);
  const bin = { id: Number(id), amounts: [withoutFee(amount0), withoutFee(amount1)] as const };
  return { kind: "swap", form: "infinity-bin", amount0, amount1, bin };
}
