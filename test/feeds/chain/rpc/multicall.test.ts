import * as Abi from "ox/Abi";
import * as AbiFunction from "ox/AbiFunction";
import * as Hex from "ox/Hex";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Factory, FactoryForm } from "../../../../src/feeds/chain/network.ts";
import { FORMS } from "../../../../src/feeds/chain/pools/forms/forms.ts";
import type { UnknownPool } from "../../../../src/feeds/chain/pools/forms/pool-form.ts";
import { Multicall } from "../../../../src/feeds/chain/rpc/multicall.ts";
import { decodeCalls, encodeResults } from "../../../support/world/multicall.ts";
import { wallet } from "../nodes/test-chain.ts";

const [FACTORY, TOKEN, DOLLAR, GOOD, HOSTILE] = [wallet(1), wallet(2), wallet(3), wallet(4), wallet(5)];
const ABI = Abi.from([
  "function factory() view returns (uint256)",
  "function getFactory() view returns (uint256)",
  "function token0() view returns (uint256)",
  "function token1() view returns (uint256)",
  "function fee() view returns (uint256)",
  "function tickSpacing() view returns (uint256)",
  "function getPool(address, address, uint24) view returns (uint256)",
  "function getPool(address, address, int24) view returns (uint256)",
]);

const Request = z.object({ data: z.custom<Hex.Hex>((data) => Hex.validate(data)) });

/** Identifies two pools. Each names the factory, which lists only `GOOD`, under tier 1. */
function identifyBoth(form: FactoryForm, hostileTier: bigint, kind: UnknownPool["form"] = "v3") {
  const results: Readonly<Record<string, bigint>> = {
    factory: BigInt(FACTORY),
    getFactory: BigInt(FACTORY),
    token0: BigInt(TOKEN),
    token1: BigInt(DOLLAR),
    getPool: BigInt(GOOD),
  };
  const resultOf = (target: string, callData: Hex.Hex) => {
    // A contract with a fallback function answers a call without a function.
    if (callData === "0x") return BigInt(GOOD);
    try {
      const { name } = AbiFunction.fromAbi(ABI, Hex.slice(callData, 0, 4));
      return results[name] ?? (target.toLowerCase() === HOSTILE ? hostileTier : 1n);
    } catch {
      return undefined;
    }
  };
  const ask = async (_method: string, [call]: readonly unknown[]) => {
    const results = decodeCalls(Request.parse(call).data).map(({ target, callData }) => {
      const word = resultOf(target, callData);
      const returnData = word === undefined ? "0x" : Hex.fromNumber(word, { size: 32 });
      return { success: true, returnData };
    });
    return encodeResults(results);
  };
  const factories = new Map<string, Factory>([[FACTORY, { name: "One", form, address: FACTORY }]]);
  const pools = [HOSTILE, GOOD].map((pool): UnknownPool => ({ pool, form: kind, emitter: pool }));
  return new Multicall({ ask }).inquire(
    pools.map((pool) => FORMS[kind].identify(pool, factories)),
    new AbortController().signal,
  );
}

test.each(["v3", "v3-spacing"] as const)(
  "[hostile] of %s, a fee or tick spacing of any size affects no other pool",
  async (form) => {
    const good = { pool: GOOD, form: "v3", factory: FACTORY, token0: TOKEN, token1: DOLLAR };
    for (const tier of [1n << 23n, 1n << 24n, 1n << 60n, 1n << 255n, (1n << 256n) - (1n << 24n)])
      expect(await identifyBoth(form, tier)).toEqual([undefined, good]);
  },
);

test("[hostile] a Liquidity Book pair that names a factory but no tokens affects no other pool", async () => {
  expect(await identifyBoth("liquidity-book", 1n, "bins")).toEqual([undefined, undefined]);
});
