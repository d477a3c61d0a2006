import * as AbiEvent from "ox/AbiEvent";
import * as AbiParameters from "ox/AbiParameters";
import type { Hex } from "ox/Hex";
import { describe, expect, test } from "vitest";
import type { MarketEvent } from "../../../../../../src/base/market/index.ts";
import { logsOf, Receipts } from "../../../../../../src/feeds/chain/evm-block.ts";
import type { Factory } from "../../../../../../src/feeds/chain/network.ts";
import { BlockTranslator } from "../../../../../../src/feeds/chain/pools/block-translator.ts";
import type { EvmLog } from "../../../../../../src/feeds/chain/pools/evm-log.ts";
import { POSITIONS } from "../../../../../../src/feeds/chain/pools/forms/positions/positions.ts";
import { sqrtPriceAt } from "../../../../../../src/feeds/chain/pools/forms/positions/ticks.ts";
import { E18 } from "../../../market/exchange.ts";
import { describeOnV4, SingletonPool, STEP } from "../../../market/singleton.ts";
import { answer } from "../../../nodes/answer.ts";
import { wallet } from "../../../nodes/test-chain.ts";

/*
 * No package has the bytecode of PancakeSwap Infinity. Its signatures are those of
 * https://github.com/pancakeswap/infinity-core (src/pool-cl/interfaces/ICLPoolManager.sol).
 */

const V4_INITIALIZE = "Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)";
const V4_SWAP = "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)";
const CL_INITIALIZE = "Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)";
const CL_SWAP = "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24,uint16)";

/** Converts a log of Uniswap V4's manager to that of Infinity's. */
function asInfinity(log: EvmLog): EvmLog {
  const words = log.data.slice(2).match(/.{64}/g) ?? [];
  const [topic = "", ...rest] = log.topics;
  if (topic === AbiEvent.getSelector(V4_INITIALIZE)) {
    const [fee = "", spacing = "", hooks = "", sqrtPrice = "", tick = ""] = words;
    const parameters = `${spacing.slice(4)}0000`;
    const data = `0x${[hooks, fee, parameters, sqrtPrice, tick].join("")}`;
    return { ...log, topics: [AbiEvent.getSelector(CL_INITIALIZE), ...rest], data };
  }
  if (topic !== AbiEvent.getSelector(V4_SWAP)) return log;
  return { ...log, topics: [AbiEvent.getSelector(CL_SWAP), ...rest], data: `${log.data}${"0".repeat(64)}` };
}

describeOnV4("PancakeSwap Infinity CL, by the logs of Uniswap V4's real manager", () => {
  test("[exact] listing, swaps both ways, liquidity added and removed", async () => {
    const pool = await SingletonPool.open();
    await using chain = pool.chain;
    await pool.change(-400 * STEP, 400 * STEP, 500n * E18, { symbol: "SGL", name: "Single" });
    await pool.swap(wallet(1), "buy", 3n * E18 + 7n);
    await pool.change(-10 * STEP, 10 * STEP, 2_000n * E18);
    await pool.swap(wallet(2), "sell", 100n * E18);
    await pool.change(-10 * STEP, 10 * STEP, -2_000n * E18);
    const factories = pool.network.factories.map(
      (factory): Factory => (factory.form === "uniswap-v4" ? { ...factory, form: "infinity-cl" } : factory),
    );
    const translator = new BlockTranslator({ ...pool.network, factories });
    const facts = { address: pool.token, decimals: 18, symbol: "SGL", name: "Single" };
    translator.pools.learnToken(pool.token, facts);
    const events: MarketEvent[] = [];
    const head = Number(await chain.ask<string>("eth_blockNumber"));
    for (let number = 1; number <= head; number++) {
      const hex = `0x${number.toString(16)}`;
      const { timestamp } = await chain.ask<{ timestamp: string }>("eth_getBlockByNumber", [hex, false]);
      const receipts = Receipts.parse(await chain.ask("eth_getBlockReceipts", [hex]));
      const block = { number, hash: "0x", parentHash: "0x", atMs: Number(timestamp) * 1_000 };
      const read = translator.read({ ...block, logs: logsOf(receipts).map(asInfinity) });
      events.push(...translator.translate(read));
    }
    expect(events).toEqual(pool.events);
  });
});

describe("a pool of PancakeSwap Infinity CL from before the start", () => {
  const MANAGER = "0xa0ffb9c1ce1fe56963b0321b32e7a0302114058b";
  const FACTORY: Factory = { name: "CL", form: "infinity-cl", address: MANAGER };
  const ID = `0x${"ab".repeat(32)}`;
  const TOKENS = [`0x${"00".repeat(20)}`, `0x${"Cc".repeat(20)}`];
  const PARAMETERS = AbiParameters.encode(AbiParameters.from("uint256"), [(60n << 16n) | 0x55n]);
  const key = (manager: string) => [...TOKENS, `0x${"11".repeat(20)}`, manager, 100, PARAMETERS as Hex];
  const identify = (manager: string) =>
    answer(
      POSITIONS.identify({ pool: ID, form: "positions", emitter: MANAGER }, new Map([[MANAGER, FACTORY]])),
      { poolIdToPoolKey: ([id]) => (id === ID ? key(manager) : undefined) },
    );

  test("[before] is identified by the manager's own record", () => {
    const [token0, token1] = TOKENS.map((token) => token.toLowerCase());
    expect(identify(MANAGER.toUpperCase().replace("0X", "0x"))).toEqual({
      pool: ID,
      form: "positions",
      factory: MANAGER,
      token0,
      token1,
      step: 60,
    });
    expect(identify(`0x${"00".repeat(20)}`)).toBeUndefined();
  });

  test("[before] has the positions that its ticks report", () => {
    const nets = new Map([
      [-600, 5n * E18],
      [-60, 2n * E18],
      [120, -2n * E18],
      [600, -5n * E18],
    ]);
    const wordOf = (word: unknown) =>
      [...nets.keys()].reduce((bits, tick) => {
        const index = tick / 60;
        return Math.floor(index / 256) === word ? bits | (1n << BigInt(((index % 256) + 256) % 256)) : bits;
      }, 0n);
    const [token0 = "", token1 = ""] = TOKENS;
    const identity = { pool: ID, form: "positions", factory: MANAGER, token0, token1, step: 60 } as const;
    const tick = 17;
    const now = sqrtPriceAt(tick);
    const read = (bitmap: (word: unknown) => bigint | undefined) =>
      answer(POSITIONS.readState(identity, FACTORY, 9), {
        getSlot0: () => [now, tick, 0, 0],
        getLiquidity: () => 7n * E18,
        getPoolBitmapInfo: ([, word]) => bitmap(word),
        getPoolTickInfo: ([, at]) => [0n, nets.get(Number(at))],
      });
    const below = 7n * E18 * (now - sqrtPriceAt(-60)) + 5n * E18 * (sqrtPriceAt(-60) - sqrtPriceAt(-600));
    expect(read(wordOf).depth(1)).toBe(below >> 96n);
    expect(read(wordOf).isFresh).toBe(false);
    const state = read(wordOf);
    const moveTo = (to: number) => {
      const range = { sqrtPriceX96: sqrtPriceAt(to), tick: to, liquidity: 0n };
      state.apply({ kind: "swap", form: "positions", amount0: 1n, amount1: -1n, range }, 10, () => undefined);
      return state.isOutdated;
    };
    // A quarter of the price, and slightly less.
    expect([moveTo(tick - 13_863), moveTo(tick - 13_864), moveTo(tick)]).toEqual([false, true, false]);
    // A word that could not be read leaves the depth unknown.
    expect(read((word) => (word === 0 ? undefined : wordOf(word))).depth(1)).toBeUndefined();
  });
});
