import { parseAbi } from "viem";
import type { Factory } from "../../network.ts";
import { addressOf, type Inquiry, type PoolIdentity, type UnknownPool } from "./pool-form.ts";

const ABI = parseAbi([
  "function factory() view returns (address)",
  "function token0() view returns (address)",
  "function token1() view returns (address)",
  "function fee() view returns (uint24)",
]);
const FIELDS = ["factory", "token0", "token1", "fee"] as const;

/**
 * Identifies a pool that has a contract of its own: it names its factory and tokens, and the
 * factory must list it. `lookUp` asks the factory for its pools of two tokens and, where the pool
 * has one, a fee.
 */
export function* identifyPair(
  { pool, form }: UnknownPool,
  factories: ReadonlyMap<string, Factory>,
  lookUp: (factory: Factory, token0: string, token1: string, fee: number) => Inquiry<readonly string[]>,
): Inquiry<PoolIdentity | undefined> {
  const results = yield FIELDS.map((functionName) => ({ abi: ABI, address: pool, functionName }));
  const [by = "", token0, token1] = results.map(addressOf);
  const fee = results.at(-1);
  const factory = factories.get(by);
  if (!factory || token0 === undefined || token1 === undefined) return undefined;
  const known = yield* lookUp(factory, token0, token1, typeof fee === "number" ? fee : 0);
  return known.includes(pool) ? { pool, form, factory: by, token0, token1 } : undefined;
}
