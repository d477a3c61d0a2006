import * as Abi from "ox/Abi";
import type { Factory } from "../../network.ts";
import { addressOf, type Inquiry, isAddress, type PoolIdentity, type UnknownPool } from "./pool-form.ts";

const ABI = Abi.from([
  "function factory() view returns (address)",
  "function token0() view returns (address)",
  "function token1() view returns (address)",
  "function fee() view returns (uint24)",
  "function tickSpacing() view returns (int24)",
]);
const INFINITY_ABI = Abi.from([
  "function poolIdToPoolKey(bytes32) view returns (address, address, address, address, uint24, bytes32)",
]);
const FIELDS = ["factory", "token0", "token1", "fee", "tickSpacing"] as const;

/** Returns the tokens and parameters of a pool of PancakeSwap Infinity, if its manager has it. */
export function* readInfinityKey(
  pool: string,
  manager: string,
): Inquiry<{ token0: string; token1: string; parameters: bigint } | undefined> {
  const [key] = yield [
    { abi: INFINITY_ABI, address: manager, functionName: "poolIdToPoolKey", args: [pool] },
  ];
  const [token0, token1, , owner, , parameters]: readonly unknown[] = Array.isArray(key) ? key : [];
  if (addressOf(owner) !== manager || typeof parameters !== "string") return undefined;
  if (!isAddress(token0) || !isAddress(token1)) return undefined;
  return {
    token0: token0.toLowerCase(),
    token1: token1.toLowerCase(),
    parameters: BigInt(parameters),
  };
}

/**
 * Identifies a pool that has its own contract. The pool names its factory and tokens, and the
 * factory must list it. `lookUp` requests the factory's pools of two tokens. `tier` is the fee, or
 * the tick spacing where that distinguishes them; 0 if the pool names none.
 */
export function* identifyPair(
  { pool, form }: UnknownPool,
  factories: ReadonlyMap<string, Factory>,
  lookUp: (factory: Factory, token0: string, token1: string, tier: number) => Inquiry<readonly string[]>,
): Inquiry<PoolIdentity | undefined> {
  const results = yield FIELDS.map((functionName) => ({ abi: ABI, address: pool, functionName }));
  const [by = "", token0, token1] = results.map(addressOf);
  const factory = factories.get(by);
  if (!factory || token0 === undefined || token1 === undefined) return undefined;
  const tier = results[FIELDS.indexOf(factory.form === "v3-spacing" ? "tickSpacing" : "fee")];
  const listed = yield* lookUp(factory, token0, token1, typeof tier === "number" ? tier : 0);
  return listed.includes(pool) ? { pool, form, factory: by, token0, token1 } : undefined;
}
