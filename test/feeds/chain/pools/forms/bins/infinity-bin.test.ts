import * as Abi from "ox/Abi";
import type { Hex } from "ox/Hex";
import { describe, expect, test } from "vitest";
import type { MarketEvent } from "../../../../../../src/base/market/index.ts";
import { logsOf, Receipts } from "../../../../../../src/feeds/chain/evm-block.ts";
import type { Factory } from "../../../../../../src/feeds/chain/network.ts";
import { BlockTranslator } from "../../../../../../src/feeds/chain/pools/block-translator.ts";
import { decodeLog } from "../../../../../../src/feeds/chain/pools/decode.ts";
import type { EvmLog } from "../../../../../../src/feeds/chain/pools/evm-log.ts";
import { NEAR_BINS } from "../../../../../../src/feeds/chain/pools/forms/bins/bin-state.ts";
import { INFINITY_BIN } from "../../../../../../src/feeds/chain/pools/forms/bins/infinity-bin.ts";
import type { BinAmounts } from "../../../../../../src/feeds/chain/pools/forms/pool-log.ts";
import { encodeEvent } from "../../../../../support/world/encoded-event.ts";
import { BookPool, MIDDLE } from "../../../market/book-pool.ts";
import { E18 } from "../../../market/exchange.ts";
import { answer } from "../../../nodes/answer.ts";
import { describeOnAnvil } from "../../../nodes/anvil.ts";
import { wallet } from "../../../nodes/test-chain.ts";

/*
 * No package has the bytecode of PancakeSwap Infinity. Its signatures are those of
 * https://github.com/pancakeswap/infinity-core (src/pool-bin/interfaces/IBinPoolManager.sol).
 */
const ABI = Abi.from([
  "event Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, address hooks, uint24 fee, bytes32 parameters, uint24 activeId)",
  "event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint24 activeId, uint24 fee, uint16 protocolFee)",
  "event Mint(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts, bytes32 compositionFeeAmount, bytes32 feeAmountToProtocol)",
  "event Burn(bytes32 indexed id, address indexed sender, uint256[] ids, bytes32 salt, bytes32[] amounts)",
]);
const MANAGER = "0xc697d2898e0d09264376196696c51d7abbbaa4a9";
const ID = `0x${"b1".repeat(32)}`;
const NOBODY = `0x${"0".repeat(40)}`;
const ZERO = `0x${"0".repeat(64)}`;
const word = (value: bigint) => `0x${value.toString(16).padStart(64, "0")}`;
const PARAMETERS = word((25n << 16n) | 0x3fn);

function managerLog(
  at: EvmLog,
  eventName: (typeof ABI)[number]["name"],
  values: Record<string, unknown>,
): EvmLog {
  const args: Record<string, unknown> = { id: ID, sender: NOBODY, fee: 3_000, salt: ZERO, ...values };
  const { topics, data } = encodeEvent(ABI, eventName, args);
  return { ...at, address: MANAGER, topics, data };
}

/** Converts the logs of a pair of the Liquidity Book to those of Infinity's manager. */
function asInfinity(logs: readonly EvmLog[]): EvmLog[] {
  const result: EvmLog[] = [];
  let swap = { amount0: 0n, amount1: 0n };
  for (const [index, log] of logs.entries()) {
    const read = decodeLog(log);
    if (read?.kind === "created" && read.form === "bins") {
      const tokens = { currency0: read.token0, currency1: read.token1, hooks: NOBODY };
      result.push(managerLog(log, "Initialize", { ...tokens, parameters: PARAMETERS, activeId: MIDDLE }));
    } else if (read?.kind === "bins") {
      const size = (units: bigint) => (units < 0n ? -units : units);
      const packed = ({ amounts: [x, y] }: BinAmounts) => word((size(y) << 128n) | size(x));
      const lists = { ids: read.changes.map(({ id }) => BigInt(id)), amounts: read.changes.map(packed) };
      const fees = { compositionFeeAmount: ZERO, feeAmountToProtocol: ZERO };
      result.push(managerLog(log, read.isAdded ? "Mint" : "Burn", { ...lists, ...fees }));
    } else if (read?.kind === "swap" && read.form === "bins") {
      // One log for all bins, with the amounts that the swapper receives.
      swap = { amount0: swap.amount0 - read.amount0, amount1: swap.amount1 - read.amount1 };
      const next = logs[index + 1];
      if (next?.address === log.address && decodeLog(next)?.kind === "swap") continue;
      result.push(managerLog(log, "Swap", { ...swap, activeId: read.bin?.id, protocolFee: 0 }));
      swap = { amount0: 0n, amount1: 0n };
    } else result.push(log);
  }
  return result;
}

describeOnAnvil("PancakeSwap Infinity Bin, by the logs of a real pair of the Liquidity Book", () => {
  test("[exact] listing, swaps within a bin and through many, liquidity added and removed", async () => {
    const pool = await BookPool.open("2.2", true, 0);
    await using chain = pool.chain;
    await pool.add(-20, 20, 100n * E18, { symbol: "BOOK", name: "Book" });
    await pool.swap(wallet(1), "buy", 3n * E18 + 7n);
    await pool.swap(wallet(1), "buy", 450n * E18);
    await pool.swap(wallet(2), "sell", 1_234n * E18);
    await pool.add(-200, -190, 100n * E18);
    await pool.remove(-20, -15);
    await pool.swap(wallet(2), "buy", 711n * E18);
    const manager: Factory = { name: "Bin", form: "infinity-bin", address: MANAGER };
    const factories = [...pool.network.factories.filter(({ form }) => form !== "liquidity-book"), manager];
    const translator = new BlockTranslator({ ...pool.network, factories });
    translator.pools.learnToken(pool.token, {
      address: pool.token,
      decimals: 18,
      symbol: "BOOK",
      name: "Book",
    });
    const events: MarketEvent[] = [];
    const head = Number(await chain.ask<string>("eth_blockNumber"));
    for (let number = 1; number <= head; number++) {
      const hex = `0x${number.toString(16)}`;
      const { timestamp } = await chain.ask<{ timestamp: string }>("eth_getBlockByNumber", [hex, false]);
      const receipts = Receipts.parse(await chain.ask("eth_getBlockReceipts", [hex]));
      const block = { number, hash: "0x", parentHash: "0x", atMs: Number(timestamp) * 1_000 };
      events.push(...translator.translate(translator.read({ ...block, logs: asInfinity(logsOf(receipts)) })));
    }
    expect(events).toEqual(pool.events.map((event) => ("pool" in event ? { ...event, pool: ID } : event)));
  });
});

describe("a pool of PancakeSwap Infinity Bin from before the start", () => {
  const FACTORY: Factory = { name: "Bin", form: "infinity-bin", address: MANAGER };
  const TOKENS = [NOBODY, `0x${"Cc".repeat(20)}`];
  const [token0 = "", token1 = ""] = TOKENS.map((token) => token.toLowerCase());
  const identity = { pool: ID, form: "infinity-bin", factory: MANAGER, token0, token1, step: 25 } as const;

  test("[before] is identified by the manager's own record", () => {
    const identify = (manager: string, emitter = MANAGER) =>
      answer(
        INFINITY_BIN.identify({ pool: ID, form: "infinity-bin", emitter }, new Map([[MANAGER, FACTORY]])),
        { poolIdToPoolKey: () => [...TOKENS, NOBODY, manager, 100, PARAMETERS as Hex] },
      );
    expect(identify(MANAGER)).toEqual(identity);
    expect(identify(NOBODY)).toBeUndefined();
    expect(identify(MANAGER, NOBODY)).toBeUndefined();
  });

  test("[before] has the depth of its bins near the price", () => {
    const active = MIDDLE + 5;
    const read = (bin: (id: number) => readonly bigint[] | undefined) =>
      answer(INFINITY_BIN.readState(identity, FACTORY, 9), {
        getSlot0: () => [active, 0, 0],
        getBin: ([, id]) => bin(Number(id)),
      });
    const state = read((id) => (id > active ? [3n, 0n, 0n, 0n] : [1n, 2n, 0n, 0n]));
    expect([state.depth(0), state.depth(1)]).toEqual([
      BigInt(1 + 3 * NEAR_BINS),
      BigInt(2 * (NEAR_BINS + 1)),
    ]);
    const [up = 0n, down = 1n] = state.ratio() ?? [];
    expect(Number(up) / Number(down)).toBeCloseTo(1.0025 ** 5, 12);
    expect(read((id) => (id === active ? undefined : [0n, 0n])).depth(1)).toBeUndefined();
    expect(read(() => [0n, 0n]).isFresh).toBe(true);
  });

  test("[bins] the protocol's fee is added to no bin", () => {
    const at = { address: MANAGER, topics: [], data: "0x", logIndex: 0, transactionHash: "0x", origin: "0x" };
    const swap = { amount0: -1_000_000n, amount1: 990_000n, activeId: 7, protocolFee: 1_000 };
    expect(decodeLog(managerLog(at, "Swap", swap))).toMatchObject({
      kind: "swap",
      amount0: 1_000_000n,
      amount1: -990_000n,
      bin: { id: 7, amounts: [999_000n, -990_000n] },
    });
  });
});
