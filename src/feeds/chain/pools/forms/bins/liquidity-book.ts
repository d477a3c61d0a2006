import * as Abi from "ox/Abi";
import type { Factory } from "../../../network.ts";
import { type EvmLog, readUint } from "../../evm-log.ts";
import { addressOf, type Inquiry, type PoolForm } from "../pool-form.ts";
import { type BinMove, isShaped, type PoolCreated, readCreated, type Swap } from "../pool-log.ts";
import { MAX_ID, readBinMove, unpack } from "./bin-logs.ts";
import { BinState, readBins } from "./bin-state.ts";

/*
 * LFJ's Liquidity Book: a contract for each pair, whose tokens X and Y are not sorted. A swap emits
 * one log for each bin that it takes from. https://github.com/lfj-gg/joe-v2: interfaces/ILBPair.sol
 * of 2.1 and 2.2, which have the same events, and of 2.0
 */

const MAX_STEP = 65_535n;
const ABI = Abi.from([
  "function getFactory() view returns (address)",
  "function getTokenX() view returns (address)",
  "function getTokenY() view returns (address)",
  "function getActiveId() view returns (uint24)",
  "function getBin(uint24) view returns (uint256, uint256)",
  "function getAllLBPairs(address, address) view returns ((uint16 step, address pair, bool isOwned, bool isIgnored)[])",
  // 2.0:
  "function factory() view returns (address)",
  "function tokenX() view returns (address)",
  "function tokenY() view returns (address)",
  "function getReservesAndId() view returns (uint256, uint256, uint256)",
]);

/** Decoders of the events, by their signatures. */
const readers: PoolForm["readers"] = {
  "LBPairCreated(address,address,uint256,address,uint256)": readPairCreated,
  "Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)": readSwap,
  "DepositedToBins(address,address,uint256[],bytes32[])": (log) => readBinMove(log, "bins", 1n, 1),
  "WithdrawnFromBins(address,address,uint256[],bytes32[])": (log) => readBinMove(log, "bins", -1n, 1),
  "Swap(address,address,uint256,bool,uint256,uint256,uint256,uint256)": readOldSwap,
  "DepositedToBin(address,address,uint256,uint256,uint256)": (log) => readOldMove(log, 1n),
  "WithdrawnFromBin(address,address,uint256,uint256,uint256)": (log) => readOldMove(log, -1n),
};

export const LIQUIDITY_BOOK: PoolForm = {
  readers,
  isSingleton: false,
  create: ({ step = 0 }) => new BinState({ step, activeId: undefined, bins: [], atBlock: -1 }),
  *find(factory, first, second) {
    return (yield* pairsOf(factory, first, second)).map(({ pair }) => pair);
  },
  *identify(pool, factories) {
    const names = ["getFactory", "getTokenX", "getTokenY", "factory", "tokenX", "tokenY"] as const;
    const results = yield names.map((functionName) => ({ abi: ABI, address: pool.pool, functionName }));
    const [newer, tokenX, tokenY, ...old] = results.map(addressOf);
    const [by = "", token0 = "", token1 = ""] = newer === undefined ? old : [newer, tokenX, tokenY];
    const factory = factories.get(by);
    if (factory?.form !== "liquidity-book") return undefined;
    const pair = (yield* pairsOf(factory, token0, token1)).find(({ pair: listed }) => listed === pool.pool);
    return pair && { pool: pool.pool, form: "bins", factory: by, token0, token1, step: pair.step };
  },
  *readState({ pool, step = 0 }, _factory, atBlock) {
    const [active, old] = yield (["getActiveId", "getReservesAndId"] as const).map((functionName) => ({
      abi: ABI,
      address: pool,
      functionName,
    }));
    const oldId: unknown = Array.isArray(old) ? old[2] : undefined;
    const id = typeof active === "number" ? active : typeof oldId === "bigint" ? Number(oldId) : undefined;
    const bin = { abi: ABI, address: pool, functionName: "getBin" } as const;
    return yield* readBins(step, id, atBlock, (one) => ({ ...bin, args: [one] }));
  },
};

function* pairsOf(
  { address }: Factory,
  first: string,
  second: string,
): Inquiry<readonly { readonly step: number; readonly pair: string }[]> {
  const [pairs] = yield [{ abi: ABI, address, functionName: "getAllLBPairs", args: [first, second] }];
  return (Array.isArray(pairs) ? pairs : []).flatMap(({ step, pair }: { step?: unknown; pair?: unknown }) => {
    const address = addressOf(pair);
    return address !== undefined && typeof step === "number" ? [{ step, pair: address }] : [];
  });
}

function readPairCreated(log: EvmLog): PoolCreated | undefined {
  const created = readCreated(log, "bins", 4, 2, 0);
  if (!created) return undefined;
  const step = readUint(log.topics[3] ?? "", 0);
  return step <= MAX_STEP ? { ...created, step: Number(step) } : undefined;
}

/** The pair also receives the protocol's fees, which go to no bin. */
function readSwap(log: EvmLog): Swap | undefined {
  if (!isShaped(log, 3, 6)) return undefined;
  const id = readUint(log.data, 0);
  if (id > MAX_ID) return undefined;
  const [in0, in1] = unpack(readUint(log.data, 1));
  const [out0, out1] = unpack(readUint(log.data, 2));
  const [fee0, fee1] = unpack(readUint(log.data, 5));
  const amounts = [in0 - out0, in1 - out1] as const;
  const bin = { id: Number(id), amounts };
  return { kind: "swap", form: "bins", amount0: amounts[0] + fee0, amount1: amounts[1] + fee1, bin };
}

/** In 2.0, none of a swap's fees go to a bin. */
function readOldSwap(log: EvmLog): Swap | undefined {
  if (!isShaped(log, 4, 5)) return undefined;
  const id = readUint(log.topics[3] ?? "", 0);
  const isForY = readUint(log.data, 0);
  if (id > MAX_ID || isForY > 1n) return undefined;
  const [amountIn, amountOut, fees] = [readUint(log.data, 1), readUint(log.data, 2), readUint(log.data, 4)];
  const both = (received: bigint) =>
    isForY === 1n ? ([received, -amountOut] as const) : ([-amountOut, received] as const);
  const [amount0, amount1] = both(amountIn + fees);
  return { kind: "swap", form: "bins", amount0, amount1, bin: { id: Number(id), amounts: both(amountIn) } };
}

function readOldMove(log: EvmLog, sign: 1n | -1n): BinMove | undefined {
  if (!isShaped(log, 4, 2)) return undefined;
  const id = readUint(log.topics[3] ?? "", 0);
  if (id > MAX_ID) return undefined;
  const amounts = [sign * readUint(log.data, 0), sign * readUint(log.data, 1)] as const;
  return { kind: "bins", form: "bins", isAdded: sign > 0n, changes: [{ id: Number(id), amounts }] };
}
