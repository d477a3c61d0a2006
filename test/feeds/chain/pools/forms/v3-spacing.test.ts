import * as Abi from "ox/Abi";
import { describe, expect, test } from "vitest";
import type { Factory, Network } from "../../../../../src/feeds/chain/network.ts";
import { V3 } from "../../../../../src/feeds/chain/pools/forms/ranges.ts";
import { E18 } from "../../market/exchange.ts";
import { divide, significant } from "../../market/ledger.ts";
import { ModelBlocks, TRADER } from "../../market/model-blocks.ts";
import { answer } from "../../nodes/answer.ts";
import { wallet } from "../../nodes/test-chain.ts";

/*
 * Pools of V3's kind that their factory lists by tick spacing, by logs of the published signatures.
 */
const COMMON = [
  "event Transfer(address indexed from, address indexed to, uint256 units)",
  "event Initialize(uint160 sqrtPriceX96, int24 tick)",
  "event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
  "event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)",
  "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)",
] as const;
/**
 * Aerodrome and Topaz: https://github.com/aerodrome-finance/slipstream
 * (contracts/core/interfaces/ICLFactory.sol and pool/ICLPoolEvents.sol).
 */
const SLIPSTREAM_ABI = Abi.from([
  ...COMMON,
  "event PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool)",
  "event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
]);
/**
 * Pharaoh: https://github.com/PharaohExchange/pharaoh-contracts
 * (contracts/CL/core/interfaces/IRamsesV3Factory.sol and pool/IRamsesV3PoolEvents.sol).
 */
const RAMSES_ABI = Abi.from([
  ...COMMON,
  "event PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)",
  "event Mint(address sender, address indexed owner, uint256 index, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
]);
const [TOKEN, DOLLAR, POOL, FACTORY, MAKER] = [wallet(1), wallet(2), wallet(3), wallet(4), wallet(5)];
const SLIPSTREAM: Factory = { name: "Slipstream", form: "v3-spacing", address: FACTORY };
const NETWORK: Network = {
  name: "test",
  group: "avalanche",
  chainId: 43_114,
  finalityBlocks: 1,
  rpcUrls: [],
  factories: [SLIPSTREAM],
  quotes: [{ symbol: "USD", address: DOLLAR, decimals: 18, isStable: true }],
};
const Q96 = 1n << 96n;
const RANGE = { owner: MAKER, tickLower: -887_200, tickUpper: 887_200 };

describe.each([
  { family: "Slipstream", abi: SLIPSTREAM_ABI },
  { family: "Ramses", abi: RAMSES_ABI },
])("pools by tick spacing, with the events of $family", ({ abi }) => {
  test("[exact] a listing, a purchase, a sale and a withdrawal have the pool's amounts, price and liquidity", () => {
    const blocks = new ModelBlocks(NETWORK, abi, [TOKEN]);
    const common = { group: "avalanche", pool: POOL, token: TOKEN } as const;
    const pay = (from: string, to: string, units: bigint) =>
      [DOLLAR, "Transfer", { from, to, units }] as const;
    const liquidity = 4_000n * E18;
    const created = { token0: TOKEN, token1: DOLLAR, fee: 500, tickSpacing: 10, pool: POOL };
    expect(
      blocks.mine(
        [FACTORY, "PoolCreated", created],
        [POOL, "Initialize", { sqrtPriceX96: Q96, tick: 0 }],
        pay(MAKER, POOL, liquidity),
        [POOL, "Mint", { ...RANGE, index: 7n, amount: liquidity, amount0: liquidity, amount1: liquidity }],
      ),
    ).toEqual([{ kind: "listing", at: 1, ...common, liquidity: "8000" }]);

    // The root of the price rises by a quarter: 4,000 × 0.25 dollars come in, and 3 as a fee.
    const [paid, bought] = [1_003n * E18, liquidity / 5n];
    const dear = { sqrtPriceX96: (Q96 * 5n) / 4n, liquidity, tick: 4_462 };
    const trade = { ...common, kind: "trade", trader: TRADER } as const;
    expect(
      blocks.mine(
        pay(TRADER, POOL, paid),
        [TOKEN, "Transfer", { from: POOL, to: TRADER, units: bought }],
        [POOL, "Swap", { amount0: -bought, amount1: paid, ...dear }],
      ),
    ).toEqual([
      { kind: "liquidity", at: 2, ...common, usd: "10000", cause: "sync" },
      { ...trade, at: 2, side: "buy", price: "1.25375", amount: "800", quoteUsd: "1003" },
    ]);

    // It falls by a third of that.
    const [sold, received] = [191n * E18 + 7n, 250n * E18 + 1n];
    const cheap = { sqrtPriceX96: (Q96 * 19n) / 16n, liquidity, tick: 3_437 };
    expect(
      blocks.mine([TOKEN, "Transfer", { from: TRADER, to: POOL, units: sold }], pay(POOL, TRADER, received), [
        POOL,
        "Swap",
        { amount0: sold, amount1: -received, ...cheap },
      ]),
    ).toEqual([
      { kind: "liquidity", at: 3, ...common, usd: "9500", cause: "sync" },
      {
        ...trade,
        at: 3,
        side: "sell",
        price: significant(received, sold, 18),
        amount: divide(sold, E18, 18),
        quoteUsd: divide(received, E18, 18),
      },
    ]);

    // Half of the liquidity leaves: what it owes no longer counts.
    const half = { amount: liquidity / 2n, amount0: liquidity / 3n, amount1: (liquidity / 2n / 16n) * 19n };
    expect(
      blocks.mine([POOL, "Burn", { ...RANGE, ...half }], pay(POOL, MAKER, half.amount1), [
        POOL,
        "Collect",
        { ...RANGE, recipient: MAKER, amount0: half.amount0, amount1: half.amount1 },
      ]),
    ).toEqual([{ kind: "liquidity", at: 4, ...common, usd: "4750", cause: "remove" }]);
  });
});

describe("pools by tick spacing that existed before", () => {
  const contracts = (listed: string) => ({
    factory: () => FACTORY,
    token0: () => TOKEN,
    token1: () => DOLLAR,
    fee: () => 365,
    tickSpacing: () => 100,
    getPool: (args: readonly unknown[]) => (args[2] === 100 ? listed : wallet(8)),
  });

  test("[before] a pool is confirmed by its factory under its tick spacing, whatever its fee is now", () => {
    const identify = (listed: string) =>
      answer(
        V3.identify({ pool: POOL, form: "v3", emitter: POOL }, new Map([[FACTORY, SLIPSTREAM]])),
        contracts(listed),
      );
    const identity = { pool: POOL, form: "v3", factory: FACTORY, token0: TOKEN, token1: DOLLAR };
    expect(identify(POOL)).toEqual(identity);
    expect(identify(wallet(7))).toBeUndefined();
  });

  test("[before] the pools of two quote tokens are looked up under each tick spacing", () => {
    const found = new Set<unknown>();
    answer(V3.find(SLIPSTREAM, TOKEN, DOLLAR), { getPool: (args) => found.add(args[2]) });
    // CLFactory's and RamsesV3Factory's constructors enable these.
    expect([...found].toSorted()).toEqual([1, 50, 100, 200, 2_000, 5, 10].toSorted());
  });

  test("[replaced] after the chain replaced a block, a pool's balance is read again and does not count twice", () => {
    const blocks = new ModelBlocks(NETWORK, SLIPSTREAM_ABI, [TOKEN], {
      ...contracts(POOL),
      slot0: () => [Q96, 0],
      liquidity: () => E18 * E18,
      balanceOf: () => 4_000n * E18,
    });
    const swap = () =>
      blocks.mine(
        [DOLLAR, "Transfer", { from: TRADER, to: POOL, units: 1_000n * E18 }],
        [POOL, "Swap", { amount0: -E18, amount1: E18, sqrtPriceX96: Q96, liquidity: E18 * E18, tick: 0 }],
      );
    const liquidity = { kind: "liquidity", usd: "10000" };
    expect(swap()).toContainEqual(expect.objectContaining(liquidity));
    // The swap's block is replaced by an empty one, and the next block has the swap again.
    const empty = { number: 1, atMs: 1, logs: [], transfers: new Map(), lockerLogs: new Map() };
    blocks.translator.absorb(empty, true);
    expect(swap()).toContainEqual(expect.objectContaining(liquidity));
  });

  test("[before] price and liquidity in range are read as from Uniswap's pools", () => {
    const slot = [(Q96 * 3n) / 2n, 8_109];
    const state = answer(
      V3.readState(
        { pool: POOL, form: "v3", factory: FACTORY, token0: TOKEN, token1: DOLLAR },
        SLIPSTREAM,
        9,
      ),
      { slot0: () => slot, liquidity: () => 2_000n, balanceOf: () => 4_000n },
    );
    expect(state.depth(1)).toBe(3_000n);
  });
});
