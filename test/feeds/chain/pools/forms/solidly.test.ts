import * as Abi from "ox/Abi";
import { describe, expect, test } from "vitest";
import type { Factory, Network } from "../../../../../src/feeds/chain/network.ts";
import { V2 } from "../../../../../src/feeds/chain/pools/forms/reserves.ts";
import { E18 } from "../../market/exchange.ts";
import { ModelBlocks, TRADER } from "../../market/model-blocks.ts";
import { answer } from "../../nodes/answer.ts";
import { wallet } from "../../nodes/test-chain.ts";

const COMMON = [
  "event Fees(address indexed sender, uint256 amount0, uint256 amount1)",
  "event Mint(address indexed sender, uint256 amount0, uint256 amount1)",
  "event Sync(uint256 reserve0, uint256 reserve1)",
] as const;
/**
 * Pairs like those of Blackhole: https://github.com/BlackHoleDEX/Contracts (contracts/Pair.sol and
 * factories/PairFactory.sol).
 */
const SOLIDLY_ABI = Abi.from([
  ...COMMON,
  "event PairCreated(address indexed token0, address indexed token1, bool stable, address pair, uint256 count)",
  "event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)",
  "event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)",
]);
/**
 * Pairs like those of Aerodrome: https://github.com/aerodrome-finance/contracts
 * (interfaces/IPool.sol and factories/IPoolFactory.sol).
 */
const VELODROME_ABI = Abi.from([
  ...COMMON,
  "event PoolCreated(address indexed token0, address indexed token1, bool indexed stable, address pair, uint256 count)",
  "event Burn(address indexed sender, address indexed to, uint256 amount0, uint256 amount1)",
  "event Swap(address indexed sender, address indexed to, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out)",
]);
const [TOKEN, DOLLAR, PAIR, FACTORY] = [wallet(1), wallet(2), wallet(3), wallet(4)];

function networkOf(form: Factory["form"]): Network {
  return {
    name: "test",
    group: "avalanche",
    chainId: 43_114,
    finalityBlocks: 1,
    rpcUrls: [],
    factories: [{ name: "Pairs", form, address: FACTORY }],
    quotes: [{ symbol: "USD", address: DOLLAR, decimals: 18, isStable: true }],
  };
}

describe.each([
  { form: "solidly", abi: SOLIDLY_ABI, created: "PairCreated", lookUp: "getPair" },
  { form: "velodrome", abi: VELODROME_ABI, created: "PoolCreated", lookUp: "getPool" },
] as const)("pairs of the form $form", ({ form, abi, created, lookUp }) => {
  test("[exact] a listing, a swap whose fee leaves the pair before its reserves are reported, and a withdrawal", () => {
    const blocks = new ModelBlocks(networkOf(form), abi, [TOKEN]);
    const [tokens, dollars] = [1_000n * E18, 5_000n * E18];
    const pair = { token0: TOKEN, token1: DOLLAR, stable: false, pair: PAIR, count: 1n };
    const common = { group: "avalanche", pool: PAIR, token: TOKEN } as const;
    expect(
      blocks.mine(
        [FACTORY, created, pair],
        [PAIR, "Sync", { reserve0: tokens, reserve1: dollars }],
        [PAIR, "Mint", { amount0: tokens, amount1: dollars }],
      ),
    ).toEqual([{ kind: "listing", at: 1, ...common, liquidity: "10000" }]);
    // 100 dollars come in, and one of them leaves as a fee.
    const out = (tokens * 99n) / 5_099n;
    const reserves = { reserve0: tokens - out, reserve1: dollars + 99n * E18 };
    const swap = { amount0In: 0n, amount1In: 100n * E18, amount0Out: out, amount1Out: 0n };
    expect(
      blocks.mine(
        [PAIR, "Fees", { amount0: 0n, amount1: E18 }],
        [PAIR, "Sync", reserves],
        [PAIR, "Swap", swap],
      ),
    ).toMatchObject([
      { kind: "liquidity", at: 2, ...common, usd: "10198", cause: "sync" },
      { kind: "trade", at: 2, ...common, side: "buy", quoteUsd: "100", trader: TRADER },
    ]);
    const left = { reserve0: reserves.reserve0 / 2n, reserve1: reserves.reserve1 / 2n };
    expect(
      blocks.mine([PAIR, "Sync", left], [PAIR, "Burn", { amount0: left.reserve0, amount1: left.reserve1 }]),
    ).toEqual([{ kind: "liquidity", at: 3, ...common, usd: "5099", cause: "remove" }]);
  });

  test("[before] an existing pair is confirmed by its factory, unless it is a stable pair", () => {
    const [factory] = networkOf(form).factories;
    const identify = (listed: string) =>
      answer(
        V2.identify({ pool: PAIR, form: "v2", emitter: PAIR }, new Map(factory && [[FACTORY, factory]])),
        {
          factory: () => FACTORY,
          token0: () => TOKEN,
          token1: () => DOLLAR,
          [lookUp]: (args) => (args[2] === false ? listed : PAIR),
        },
      );
    const identity = { pool: PAIR, form: "v2", factory: FACTORY, token0: TOKEN, token1: DOLLAR };
    expect(identify(PAIR)).toEqual(identity);
    expect(identify(wallet(5))).toBeUndefined();
  });

  test("[edge] a new stable pair is ignored, because its reserves are not its price", () => {
    const blocks = new ModelBlocks(networkOf(form), abi, [TOKEN]);
    const pair = { token0: TOKEN, token1: DOLLAR, stable: true, pair: PAIR, count: 1n };
    const amounts = { amount0: 1_000n * E18, amount1: 5_000n * E18 };
    expect(
      blocks.mine(
        [FACTORY, created, pair],
        [PAIR, "Sync", { reserve0: amounts.amount0, reserve1: amounts.amount1 }],
        [PAIR, "Mint", amounts],
      ),
    ).toEqual([]);
  });
});
