import { encodeAbiParameters, encodeEventTopics, parseAbi } from "viem";
import { describe, expect, test } from "vitest";
import type { Factory, Network } from "../../../../../src/feeds/chain/network.ts";
import { BlockTranslator } from "../../../../../src/feeds/chain/pools/block-translator.ts";
import type { EvmLog } from "../../../../../src/feeds/chain/pools/evm-log.ts";
import { V2 } from "../../../../../src/feeds/chain/pools/forms/reserves.ts";
import { E18 } from "../../market/exchange.ts";
import { answer } from "../../nodes/answer.ts";
import { wallet } from "../../nodes/test-chain.ts";

/*
 * Solidly's pairs, as Blackhole has them. Logs by the signatures of
 * https://github.com/BlackHoleDEX/Contracts (contracts/Pair.sol and factories/PairFactory.sol).
 */
const ABI = parseAbi([
  "event PairCreated(address indexed token0, address indexed token1, bool stable, address pair, uint256 count)",
  "event Fees(address indexed sender, uint256 amount0, uint256 amount1)",
  "event Mint(address indexed sender, uint256 amount0, uint256 amount1)",
  "event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)",
  "event Sync(uint256 reserve0, uint256 reserve1)",
]);
const [TOKEN, DOLLAR, PAIR, FACTORY] = [wallet(1), wallet(2), wallet(3), wallet(4)];
const SOLIDLY: Factory = { name: "Solidly", form: "solidly", address: FACTORY };
const NETWORK: Network = {
  name: "test",
  group: "avalanche",
  chainId: 43_114,
  finalityBlocks: 1,
  rpcUrls: [],
  factories: [SOLIDLY],
  quotes: [{ symbol: "USD", address: DOLLAR, decimals: 18, isStable: true }],
};

describe("pairs of Solidly's form", () => {
  test("[exact] a listing and a swap whose fee leaves the pair before its reserves are reported", () => {
    const translator = new BlockTranslator(NETWORK);
    translator.pools.learnToken(TOKEN, { address: TOKEN, decimals: 18, symbol: undefined, name: undefined });
    const translate = (atMs: number, ...events: readonly (readonly [string, Record<string, unknown>])[]) => {
      const logs = events.map(([eventName, values], logIndex): EvmLog => {
        const args: Record<string, unknown> = { sender: wallet(9), to: wallet(9), ...values };
        const entry = ABI.find(({ name }) => name === eventName);
        const plain = entry?.inputs.filter((input) => !("indexed" in input)) ?? [];
        const topics = encodeEventTopics({ abi: ABI, eventName, args } as never) as string[];
        const data = encodeAbiParameters(plain, plain.map(({ name = "" }) => args[name]) as never);
        const address = eventName === "PairCreated" ? FACTORY : PAIR;
        return { address, topics, data, logIndex, transactionHash: `0x${atMs}`, origin: wallet(9) };
      });
      const block = { number: atMs, hash: "0x", parentHash: "0x", atMs, logs };
      return translator.translate(translator.read(block));
    };
    const [tokens, dollars] = [1_000n * E18, 5_000n * E18];
    const created = { token0: TOKEN, token1: DOLLAR, stable: false, pair: PAIR, count: 1n };
    const common = { group: "avalanche", pool: PAIR, token: TOKEN } as const;
    expect(
      translate(
        1,
        ["PairCreated", created],
        ["Sync", { reserve0: tokens, reserve1: dollars }],
        ["Mint", { amount0: tokens, amount1: dollars }],
      ),
    ).toEqual([{ kind: "listing", at: 1, ...common, liquidity: "10000" }]);
    // 100 dollars come in, and one of them leaves as a fee.
    const out = (tokens * 99n) / 5_099n;
    const reserves = { reserve0: tokens - out, reserve1: dollars + 99n * E18 };
    const swap = { amount0In: 0n, amount1In: 100n * E18, amount0Out: out, amount1Out: 0n };
    const events = translate(2, ["Fees", { amount0: 0n, amount1: E18 }], ["Sync", reserves], ["Swap", swap]);
    expect(events).toMatchObject([
      { kind: "liquidity", at: 2, ...common, usd: "10198", cause: "sync" },
      { kind: "trade", at: 2, ...common, side: "buy", quoteUsd: "100", trader: wallet(9) },
    ]);
  });

  test("[before] an existing pair is confirmed by its factory, unless it is a stable pair", () => {
    const identify = (listed: string) =>
      answer(V2.identify({ pool: PAIR, form: "v2", emitter: PAIR }, new Map([[FACTORY, SOLIDLY]])), {
        factory: () => FACTORY,
        token0: () => TOKEN,
        token1: () => DOLLAR,
        getPair: (args) => (args[2] === false ? listed : PAIR),
      });
    const identity = { pool: PAIR, form: "v2", factory: FACTORY, token0: TOKEN, token1: DOLLAR };
    expect(identify(PAIR)).toEqual(identity);
    expect(identify(wallet(5))).toBeUndefined();
  });
});
