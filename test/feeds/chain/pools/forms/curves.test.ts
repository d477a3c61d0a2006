import * as AbiEvent from "ox/AbiEvent";
import { describe, expect, test } from "vitest";
import type { MarketEvent } from "../../../../../src/base/market/index.ts";
import { TrendEngine } from "../../../../../src/engine/index.ts";
import { CURVE } from "../../../../../src/feeds/chain/pools/forms/curves.ts";
import { E18 } from "../../market/exchange.ts";
import {
  ARENA_ABI,
  FLAP,
  FOUR_MEME,
  LAUNCHPAD_ABI,
  LaunchBlocks,
  V2_FACTORY,
  WBNB,
  wallets,
} from "../../market/launchpad.ts";
import { divide, significant } from "../../market/ledger.ts";

const TOKEN = "0x00000000000000000000000000000000000e4444";
const PAIR = "0x00000000000000000000000000000000000b0b0b";
const NATIVE = `0x${"0".repeat(40)}`;
const BILLION = 10n ** 9n * E18;
/** flap's curve for BNB: virtual funds, virtual tokens and their product. */
const R = 6_140_000_000_000_000_000n;
const H = 107_036_752n * E18;
const K = 6_797_205_657_280_000_000_000_000_000n;

const CONTRACTS = {
  _tokenInfos: () => [TOKEN, NATIVE],
  getTokenV5: () => [1, 0n, 0n, 0n, 5, R, H, K, 8n * 10n ** 26n, NATIVE],
};

/** Returns a trade at a price of 600 dollars per BNB. */
function trade(
  at: number,
  side: "buy" | "sell",
  trader: string,
  tokens: bigint,
  coins: bigint,
  pool = TOKEN,
): MarketEvent {
  return {
    kind: "trade",
    at,
    group: "bsc",
    pool,
    token: TOKEN,
    side,
    trader,
    price: significant(600n * coins, tokens, 18),
    amount: divide(tokens, E18, 18),
    quoteUsd: divide(600n * coins, E18, 18),
  };
}

function liquidity(at: number, coins: bigint, cause: "sync" | "add" | "remove", pool = TOKEN): MarketEvent {
  const usd = divide(1_200n * coins, E18, 18);
  return { kind: "liquidity", at, group: "bsc", pool, token: TOKEN, usd, cause };
}

function listed(at: number): MarketEvent[] {
  const common = { at, group: "bsc", token: TOKEN } as const;
  return [
    { kind: "profile", ...common, symbol: "MEME", name: "Meme" },
    { kind: "listing", ...common, pool: TOKEN, liquidity: "0" },
  ];
}

function create(blocks: LaunchBlocks, creator: string): void {
  const words = { name: "Meme", symbol: "MEME", totalSupply: BILLION, launchTime: 1n, launchFee: 1n };
  blocks.send(creator).log(FOUR_MEME, "TokenCreate", { creator, token: TOKEN, requestId: 7n, ...words });
}

/** Buys on four.meme. Negative `tokens` are a sale. */
function swap(blocks: LaunchBlocks, account: string, tokens: bigint, cost: bigint, funds: bigint): void {
  const name = tokens > 0n ? "TokenPurchase" : "TokenSale";
  const amount = tokens > 0n ? tokens : -tokens;
  const [from, to] = tokens > 0n ? [FOUR_MEME, account] : [account, FOUR_MEME];
  blocks.log(TOKEN, "Transfer", { from, to, units: amount });
  const rest = { price: 1n, fee: cost / 100n, offers: 1n };
  blocks.log(FOUR_MEME, name, { token: TOKEN, account, amount, cost, funds, ...rest });
}

/** Moves the curve's funds and some tokens to a pool of PancakeSwap V2. */
function graduate(blocks: LaunchBlocks, funds: bigint, tokens: bigint, factory = V2_FACTORY): void {
  const [token0, token1] = BigInt(TOKEN) < BigInt(WBNB) ? [TOKEN, WBNB] : [WBNB, TOKEN];
  const [amount0, amount1] = token0 === TOKEN ? [tokens, funds] : [funds, tokens];
  blocks.send(wallets(50)).log(factory, "PairCreated", { token0, token1, pair: PAIR, serial: 2n });
  blocks.log(TOKEN, "Transfer", { from: FOUR_MEME, to: PAIR, units: tokens });
  blocks.log(PAIR, "Sync", { reserve0: amount0, reserve1: amount1 });
  blocks.log(PAIR, "Mint", { sender: FOUR_MEME, amount0, amount1 });
  blocks.log(FOUR_MEME, "LiquidityAdded", { base: TOKEN, offers: tokens, quote: NATIVE, funds });
}

describe("launchpads, by logs of the published signatures", () => {
  test("[topics] exactly the published events have a decoder", () => {
    const topics = Object.keys(CURVE.readers).map((signature) => AbiEvent.getSelector(signature));
    const published = [...LAUNCHPAD_ABI, ...ARENA_ABI].map((entry) => AbiEvent.getSelector(entry));
    expect(published.toSorted()).toEqual(topics.toSorted());
  });

  test("[exact] four.meme: creation lists the token; the accounts' purchases and sales are exact to the last digit", () => {
    const blocks = new LaunchBlocks();
    const [dev, user, seller, relayer] = [1, 2, 3, 4].map(wallets);
    if (!dev || !user || !seller || !relayer) throw new Error("no wallets");
    const createdAt = blocks.atMs;
    create(blocks, dev);
    swap(blocks, dev, 1_234_567n * E18 + 1n, 3n * (E18 / 100n) + 7n, 3n * (E18 / 100n) + 7n);
    blocks.mine(CONTRACTS);
    const at = blocks.atMs;
    blocks.send(relayer);
    swap(blocks, user, 777n * E18, E18 / 10n, 13n * (E18 / 100n) + 7n);
    blocks.send(seller);
    swap(blocks, seller, -555n * E18, E18 / 20n, 8n * (E18 / 100n) + 7n);
    blocks.mine(CONTRACTS);
    const first = 3n * (E18 / 100n) + 7n;
    expect(blocks.events).toEqual([
      ...listed(createdAt),
      liquidity(createdAt, first, "sync"),
      trade(createdAt, "buy", dev, 1_234_567n * E18 + 1n, first),
      liquidity(at, first + E18 / 10n, "sync"),
      trade(at, "buy", user, 777n * E18, E18 / 10n),
      liquidity(at, first + E18 / 20n, "sync"),
      trade(at, "sell", seller, 555n * E18, E18 / 20n),
    ]);
  });

  test("[exact] flap: the same, with funds computed from the curve's price", () => {
    const blocks = new LaunchBlocks();
    const createdAt = blocks.atMs;
    const [dev = "", user = ""] = [1, 2].map(wallets);
    const names = { name: "Meme", symbol: "MEME", meta: "cid" };
    blocks.send(dev).log(FLAP, "TokenCreated", { ts: 1n, creator: dev, nonce: 1n, token: TOKEN, ...names });
    blocks.mine(CONTRACTS);
    const expected: MarketEvent[] = listed(createdAt);
    const funds: bigint[] = [];
    let held = 0n;
    let supply = 0n;
    for (const coins of [2n * E18, E18 / 3n, -(E18 / 2n), 11n * E18]) {
      const at = blocks.atMs;
      held += coins;
      // The tokens that were sold: all except those that the curve's product leaves in it.
      const after = BILLION + H - (K * E18) / (held + R);
      const tokens = after - supply;
      supply = after;
      const inside = BILLION + H - supply;
      const postPrice = (K * E18 * E18) / (inside * inside);
      const [amount, eth] = [tokens > 0n ? tokens : -tokens, coins > 0n ? coins : -coins];
      const common = { ts: 1n, token: TOKEN, amount, eth, fee: eth / 100n, postPrice };
      const side = coins > 0n ? "buy" : "sell";
      const [name, party] =
        side === "buy" ? (["TokenBought", "buyer"] as const) : (["TokenSold", "seller"] as const);
      blocks
        .send(user)
        .log(FLAP, name, { ...common, [party]: user })
        .mine(CONTRACTS);
      funds.push(held);
      expected.push(liquidity(at, held, "sync"), trade(at, side, user, amount, eth));
    }
    const isReport = ({ kind }: MarketEvent) => kind === "liquidity";
    expect(blocks.events.filter((event) => !isReport(event))).toEqual(
      expected.filter((event) => !isReport(event)),
    );
    const dollars = blocks.events.flatMap((event) => (event.kind === "liquidity" ? [Number(event.usd)] : []));
    expect(dollars).toHaveLength(4);
    // The price has 18 decimals. Nine or ten are significant.
    for (const [index, usd] of dollars.entries())
      expect(usd / (1_200 * Number(funds[index]) * 1e-18)).toBeCloseTo(1, 8);
  });

  test("[graduation] moves a token to a pool: it has one listing, the funds move, and the pool sets its price", () => {
    const blocks = new LaunchBlocks();
    const events = () => blocks.events.slice(0);
    create(blocks, wallets(1));
    blocks.mine(CONTRACTS);
    let funds = 0n;
    for (let turn = 0; turn < 60; turn++) {
      const isSale = turn % 5 === 4;
      const cost = E18 / 3n;
      funds += isSale ? -cost : cost;
      blocks.send(wallets(100 + turn));
      swap(
        blocks,
        wallets(100 + turn),
        (isSale ? -1n : 1n) * (1_000_000n - BigInt(turn) * 10_000n) * E18,
        cost,
        funds,
      );
      blocks.mine(CONTRACTS);
    }
    const movedAt = blocks.atMs;
    const before = events().length;
    graduate(blocks, funds, 20_000_000n * E18);
    blocks.mine(CONTRACTS);
    expect(events().slice(before)).toEqual([
      liquidity(movedAt, funds, "add", PAIR),
      liquidity(movedAt, 0n, "remove"),
    ]);
    for (let turn = 0; turn < 150; turn++) {
      const coins = E18 / 4n;
      funds += coins;
      const tokens = 250_000n * E18;
      const isFirst = BigInt(TOKEN) < BigInt(WBNB);
      const [amount0In, amount1In] = isFirst ? [0n, coins] : [coins, 0n];
      const [amount0Out, amount1Out] = isFirst ? [tokens, 0n] : [0n, tokens];
      const to = wallets(300 + turn);
      const [reserve0, reserve1] = isFirst ? [E18, funds] : [funds, E18];
      blocks.send(to).log(TOKEN, "Transfer", { from: PAIR, to, units: tokens });
      blocks.log(PAIR, "Sync", { reserve0, reserve1 });
      blocks
        .log(PAIR, "Swap", { sender: to, amount0In, amount1In, amount0Out, amount1Out, to })
        .mine(CONTRACTS);
    }
    expect(events().filter(({ kind }) => kind === "listing")).toHaveLength(1);
    const engine = new TrendEngine();
    let clock = 0;
    for (const event of events()) {
      for (; clock <= event.at; clock += 1_000)
        if (clock >= movedAt - 100_000) engine.accept({ kind: "clock", at: clock });
      engine.accept(event);
    }
    engine.accept({ kind: "clock", at: clock });
    const { newest, explanations } = engine.snapshot();
    expect(newest.bsc.map(({ token }) => [token.address, Number(token.price)])).toEqual([[TOKEN, 0.0006]]);
    expect(engine.rejected.dust).toBe(0);
    for (const { warnings } of Object.values(explanations))
      expect(warnings).not.toContain("liquidity-removed");
  });

  test("[graduation] to a pool that is not followed leaves the liquidity unchanged", () => {
    const blocks = new LaunchBlocks();
    create(blocks, wallets(1));
    swap(blocks, wallets(1), E18, 10n * E18, 10n * E18);
    blocks.mine(CONTRACTS);
    const before = blocks.events.length;
    graduate(blocks, 10n * E18, E18, "0x00000000000000000000000000000000000bad00");
    blocks.mine(CONTRACTS);
    expect(blocks.events.slice(before)).toEqual([]);
  });

  test("[before] a token from before the start is followed from its first swap on, without a listing", () => {
    const blocks = new LaunchBlocks();
    const at = blocks.atMs;
    blocks.send(wallets(2));
    swap(blocks, wallets(2), 100n * E18, E18, 9n * E18);
    blocks.mine(CONTRACTS);
    const [profile] = listed(at);
    expect(blocks.events).toEqual([
      profile,
      liquidity(at, 9n * E18, "sync"),
      trade(at, "buy", wallets(2), 100n * E18, E18),
    ]);
  });

  test("[hostile] only a launchpad's own contract can report on its tokens, and only on tokens that it lists", () => {
    const blocks = new LaunchBlocks();
    const rest = { price: 1n, fee: 0n, offers: 1n, funds: E18, account: wallets(1) };
    const fake = { token: TOKEN, amount: E18, cost: E18, ...rest };
    blocks.send(wallets(1)).log(wallets(66), "TokenPurchase", fake).mine(CONTRACTS);
    blocks
      .send(wallets(1))
      .log(FOUR_MEME, "TokenPurchase", fake)
      .mine({ _tokenInfos: () => [NATIVE, NATIVE] });
    expect(blocks.events).toEqual([]);
  });
});
