import * as Abi from "ox/Abi";
import { describe, expect, test } from "vitest";
import type { Network } from "../../../../../src/feeds/chain/network.ts";
import { E18 } from "../../market/exchange.ts";
import { ARENA_ABI } from "../../market/launchpad.ts";
import { divide, significant } from "../../market/ledger.ts";
import { ModelBlocks, TRADER } from "../../market/model-blocks.ts";
import { wallet } from "../../nodes/test-chain.ts";

/*
 * Arena's launchpad, by logs of the published signatures. Parameters, supply and funds are those of
 * a real token, number 645, which github.com/KyberNetwork/kyberswap-dex-lib has
 * (pkg/liquidity-source/arena-bc/pool_simulator_test.go).
 */
const [TOKEN, COIN, ARENA, V2, PAIR] = [wallet(1), wallet(2), wallet(3), wallet(4), wallet(5)];
const NOBODY = `0x${"0".repeat(40)}`;
const [A, SCALER] = [901n, 232_210_432_401n];
const SUPPLY = 1_151_607_235n;
/** The contract's balance exceeds this by what it rounded up. */
const FUNDS = 1_975_308_639_029_547_320n;
const ABI = [
  ...ARENA_ABI,
  ...Abi.from([
    "event Transfer(address indexed from, address indexed to, uint256 units)",
    "event PairCreated(address indexed token0, address indexed token1, address pair, uint256 serial)",
    "event Sync(uint112 reserve0, uint112 reserve1)",
    "event Mint(address indexed sender, uint256 amount0, uint256 amount1)",
  ]),
];
/** One in which a coin is worth a dollar. */
const NETWORK: Network = {
  name: "test",
  group: "avalanche",
  chainId: 43_114,
  finalityBlocks: 1,
  rpcUrls: [],
  factories: [
    { name: "Arena", form: "arena", address: ARENA },
    { name: "Pairs", form: "v2", address: V2 },
  ],
  quotes: [{ symbol: "COIN", address: COIN, decimals: 18, isStable: true, isWrappedCoin: true }],
};
const FACTS = [SCALER, A, 0n, false, 27n, 73n, 0n, NOBODY, NOBODY, TOKEN];
const COMMON = { group: "avalanche", pool: TOKEN, token: TOKEN } as const;

/** What the tokens from one supply to another cost: the integral of the curve, rounded up. */
function costOf(upper: bigint, lower: bigint): bigint {
  return (2n * A * (upper ** 3n - lower ** 3n) + 6n * SCALER - 1n) / (6n * SCALER);
}

function open(facts: readonly unknown[] = FACTS) {
  const blocks = new ModelBlocks(NETWORK, ABI, [TOKEN], {
    tokenParams: ([id]) => (id === 645n ? facts : []),
  });
  const swap = (side: "buy" | "sell", tokens: bigint, coins: bigint, sold: bigint, address = ARENA) => {
    const fees = { referralFee: coins / 400n, creatorFee: 7n, protocolFee: coins / 100n };
    const paid = coins + fees.referralFee + fees.creatorFee + fees.protocolFee;
    const [from, to] = side === "buy" ? [NOBODY, TRADER] : [TRADER, NOBODY];
    const counts = {
      user: TRADER,
      tokenId: 645n,
      tokenAmount: tokens,
      tokenSupply: sold,
      referrerAddress: NOBODY,
    };
    const cost = side === "buy" ? { cost: paid } : { reward: coins };
    return [
      [TOKEN, "Transfer", { from, to, units: tokens * E18 }],
      [address, side === "buy" ? "Buy" : "Sell", { ...counts, ...fees, ...cost }],
    ] as const;
  };
  return { blocks, swap };
}

function trade(at: number, side: "buy" | "sell", tokens: bigint, coins: bigint) {
  const price = significant(coins, tokens * E18, 18);
  const words = { price, amount: `${tokens}`, quoteUsd: divide(coins, E18, 18), trader: TRADER };
  return { kind: "trade", at, ...COMMON, side, ...words };
}

function liquidity(at: number, funds: bigint, cause: string) {
  return { kind: "liquidity", at, ...COMMON, usd: divide(2n * funds, E18, 18), cause };
}

const CREATED = {
  curveScaler: SCALER,
  a: Number(A),
  b: 0,
  lpDeployed: false,
  lpPercentage: 27,
  salePercentage: 73,
};
const PARAMS = {
  ...CREATED,
  creatorFeeBasisPoints: 0,
  creatorAddress: TRADER,
  pairAddress: NOBODY,
  tokenContractAddress: TOKEN,
};

describe("Arena's launchpad", () => {
  test("[exact] creation lists the token; purchases and sales are exact, without the fees, and the funds are the curve's", () => {
    const { blocks, swap } = open();
    const created = { tokenId: 645n, params: PARAMS, tokenSupply: 10n ** 10n * E18 };
    expect(blocks.mine([ARENA, "TokenCreated", created])).toEqual([
      { kind: "listing", at: 1, ...COMMON, liquidity: "0" },
    ]);
    const first = costOf(SUPPLY, 0n);
    expect(blocks.mine(...swap("buy", SUPPLY, first, SUPPLY))).toEqual([
      liquidity(2, first - 1n, "sync"),
      trade(2, "buy", SUPPLY, first),
    ]);
    expect(FUNDS - first).toBeGreaterThanOrEqual(0n);
    expect(FUNDS - first).toBeLessThan(10n);
    const left = SUPPLY - 333_333_333n;
    const reward = costOf(SUPPLY, left) - 1n;
    expect(blocks.mine(...swap("sell", 333_333_333n, reward, left))).toEqual([
      liquidity(3, costOf(left, 0n) - 1n, "sync"),
      trade(3, "sell", 333_333_333n, reward),
    ]);
  });

  test("[graduation] the funds move to a pair of a followed exchange", () => {
    const { blocks, swap } = open();
    blocks.mine([ARENA, "TokenCreated", { tokenId: 645n, params: PARAMS, tokenSupply: E18 }]);
    const cost = costOf(SUPPLY, 0n);
    const [token0, token1] = [TOKEN, COIN];
    const amounts = { amount0: 27n * E18, amount1: cost };
    expect(
      blocks.mine(
        ...swap("buy", SUPPLY, cost, SUPPLY),
        [V2, "PairCreated", { token0, token1, pair: PAIR, serial: 1n }],
        [PAIR, "Sync", { reserve0: amounts.amount0, reserve1: amounts.amount1 }],
        [PAIR, "Mint", amounts],
        [ARENA, "TokenLPCreated", { tokenId: 645n, amountToken: 27n * E18, amountAVAX: cost, liquidity: 1n }],
      ),
    ).toEqual([
      liquidity(2, cost - 1n, "sync"),
      { ...liquidity(2, cost, "add"), pool: PAIR },
      trade(2, "buy", SUPPLY, cost),
      liquidity(2, 0n, "remove"),
    ]);
  });

  test("[before] a token from before the start is followed from its first trade on, without a listing", () => {
    const { blocks, swap } = open();
    const sold = SUPPLY + 1_000n;
    const cost = costOf(sold, SUPPLY);
    expect(blocks.mine(...swap("buy", 1_000n, cost, sold))).toEqual([
      liquidity(1, costOf(sold, 0n) - 1n, "sync"),
      trade(1, "buy", 1_000n, cost),
    ]);
  });

  test.each([
    ["another contract", FACTS, wallet(66)],
    ["a number without a token", FACTS.with(-1, NOBODY), ARENA],
    ["a curve without a scale", FACTS.with(0, 0n), ARENA],
  ])("[hostile] a report of %s is ignored", (_name, facts, emitter) => {
    const { blocks, swap } = open(facts);
    expect(blocks.mine(...swap("buy", 1_000n, E18, SUPPLY, emitter))).toEqual([]);
  });
});
