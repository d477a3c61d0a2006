import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Abi } from "ox/Abi";
import * as AbiParameters from "ox/AbiParameters";
import { keccak256 } from "ox/Hash";
import type { Hex } from "ox/Hex";
import { describe } from "vitest";
import type { MarketEvent } from "../../../../src/base/market/index.ts";
import type { Network } from "../../../../src/feeds/chain/network.ts";
import { sqrtPriceAt } from "../../../../src/feeds/chain/pools/forms/positions/ticks.ts";
import { fetchedPackage } from "../../../support/setup/fetched-package.ts";
import { describeOnAnvil } from "../nodes/anvil.ts";
import { type Contract, OWNER, wallet } from "../nodes/test-chain.ts";
import { E18, Exchange } from "./exchange.ts";
import { divide, significant } from "./ledger.ts";

/*
 * Uniswap V4's real PoolManager on a real EVM. Its package is large, so it is not a dependency: npm
 * fetches it on first use.
 */
const PACKAGE = fetchedPackage("@uniswap/v4-core", "1.0.2");

function contract(name: string): Contract {
  const path = join(PACKAGE ?? "", `out/${name}.sol/${name}.json`);
  const { abi, bytecode } = JSON.parse(readFileSync(path, "utf8")) as {
    abi: Abi;
    bytecode: { object: Hex };
  };
  return { abi, bytecode: bytecode.object };
}

/** Defines tests on Uniswap's own contracts; skips them by name if npm cannot fetch these. */
export function describeOnV4(title: string, tests: () => void): void {
  if (PACKAGE) describeOnAnvil(title, tests);
  else describe.skip(`${title} (skipped: npm cannot fetch @uniswap/v4-core)`, tests);
}

/** The chain's own coin. */
export const NATIVE = "0x0000000000000000000000000000000000000000";
const MAX_SQRT = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n;
const MIN_SQRT = 4_295_128_740n;
const FEE = 3_000;
/** Ticks between possible ends of positions. */
export const STEP = 60;
const KEY = AbiParameters.from("address, address, uint24, int24, address");
const Q192 = 1n << 192n;

interface Position {
  readonly lower: number;
  readonly upper: number;
  liquidity: bigint;
}

/** A pool of the singleton that the test trades in, and the events that it expects. */
export class SingletonPool {
  readonly events: MarketEvent[] = [];
  readonly network: Network;
  readonly id: string;
  readonly #exchange: Exchange;
  readonly #at: Readonly<Record<"manager" | "swapper" | "lender", string>>;
  readonly #manager = contract("PoolManager");
  readonly #swapper = contract("PoolSwapTest");
  readonly #lender = contract("PoolModifyLiquidityTest");
  readonly #token: string;
  readonly #coin: string;
  readonly #key: Readonly<Record<string, unknown>>;
  readonly #isFirst: boolean;
  readonly #positions: Position[] = [];

  private constructor(
    exchange: Exchange,
    at: Readonly<Record<"manager" | "swapper" | "lender", string>>,
    token: string,
    coin: string,
  ) {
    this.#exchange = exchange;
    this.#at = at;
    this.#token = token;
    this.#coin = coin;
    this.#isFirst = BigInt(token) < BigInt(coin);
    const [currency0, currency1] = this.#isFirst ? [token, coin] : [coin, token];
    this.#key = { currency0, currency1, fee: FEE, tickSpacing: STEP, hooks: NATIVE };
    this.id = keccak256(this.#packedKey());
    const { network } = exchange;
    const manager = { name: "Uniswap V4", form: "uniswap-v4", address: at.manager } as const;
    this.network = {
      ...network,
      factories: [...network.factories, { ...manager, positionManager: wallet(99) }],
      quotes: network.quotes.map((quote) => ({ ...quote, isWrappedCoin: !quote.isStable })),
    };
  }

  /** Deploys the manager and creates a pool of a new token and a coin, at a price of one. */
  static async open(isNative = false): Promise<SingletonPool> {
    const exchange = await Exchange.open();
    const { chain } = exchange;
    const manager = await chain.deploy(contract("PoolManager"), [OWNER]);
    const swapper = await chain.deploy(contract("PoolSwapTest"), [manager]);
    const lender = await chain.deploy(contract("PoolModifyLiquidityTest"), [manager]);
    const token = await exchange.token("Single", "SGL");
    const coin = isNative ? NATIVE : exchange.coin;
    for (const account of [OWNER, wallet(1), wallet(2)]) {
      await chain.ask("anvil_setBalance", [account, `0x${(10n ** 24n).toString(16)}`]);
      for (const one of [token, exchange.coin]) {
        if (account !== OWNER) await exchange.give(one, account, 1_000n * E18);
        for (const spender of [swapper, lender])
          await chain.send(account, one, "token", "approve", [spender, 2n ** 256n - 1n]);
      }
    }
    const pool = new SingletonPool(exchange, { manager, swapper, lender }, token, coin);
    await chain.send(OWNER, manager, pool.#manager, "initialize", [pool.#key, 1n << 96n]);
    await chain.mine();
    return pool;
  }

  get chain(): Exchange["chain"] {
    return this.#exchange.chain;
  }

  get token(): string {
    return this.#token;
  }

  /**
   * Deploys a stand-in for Uniswap's PositionManager. For any id, its code returns the 160 bytes
   * that follow it: the pool's key.
   */
  async addPositionManager(): Promise<void> {
    const code = `0x60a0600c60003960a06000f3${this.#packedKey().slice(2)}`;
    await this.#exchange.chain.ask("anvil_setCode", [wallet(99), code]);
  }

  /** Returns the contract's tick for a pool that starts at this price. */
  async tickAt(sqrtPrice: bigint): Promise<number> {
    const key = { ...this.#key, fee: 100, tickSpacing: 1 };
    const { chain } = this.#exchange;
    const result = await chain.read(this.#at.manager, this.#manager, "initialize", [key, sqrtPrice]);
    return Number(BigInt.asIntN(24, BigInt(result)));
  }

  /** Adds the owner's liquidity between two ticks. A negative amount removes it. */
  async change(from: number, to: number, liquidity: bigint, names?: { symbol: string; name: string }) {
    const { chain } = this.#exchange;
    const at = chain.nextAt * 1_000;
    // A token's price in coins falls with the tick if the token comes second.
    const [lower, upper] = this.#isFirst ? [from, to] : [-to, -from];
    const params = {
      tickLower: lower,
      tickUpper: upper,
      liquidityDelta: liquidity,
      salt: `0x${"0".repeat(64)}`,
    };
    const value = this.#coin === NATIVE ? 10n ** 21n : 0n;
    await chain.send(
      OWNER,
      this.#at.lender,
      this.#lender,
      "modifyLiquidity",
      [this.#key, params, "0x"],
      value,
    );
    await chain.mine();
    const known = this.#positions.find((one) => one.lower === lower && one.upper === upper);
    if (known) known.liquidity += liquidity;
    else this.#positions.push({ lower, upper, liquidity });
    if (liquidity === 0n) return;
    const common = { at, group: "bsc", pool: this.id, token: this.#token } as const;
    const usd = await this.#usd();
    if (names) this.events.push({ kind: "profile", at, group: "bsc", token: this.#token, ...names });
    if (names) this.events.push({ kind: "listing", ...common, liquidity: usd });
    else this.events.push({ kind: "liquidity", ...common, usd, cause: liquidity > 0n ? "add" : "remove" });
  }

  /** Swaps this many units of the coin or the token, at any price. */
  async swap(trader: string, side: "buy" | "sell", units: bigint): Promise<void> {
    const { chain } = this.#exchange;
    const at = chain.nextAt * 1_000;
    const held = async () =>
      [await this.#held(this.#token, trader), await this.#held(this.#coin, trader)] as const;
    const [tokensBefore, coinsBefore] = await held();
    const isUp = (side === "buy") === this.#isFirst;
    const params = {
      zeroForOne: !isUp,
      amountSpecified: -units,
      sqrtPriceLimitX96: isUp ? MAX_SQRT : MIN_SQRT,
    };
    const settings = { takeClaims: false, settleUsingBurn: false };
    const value = this.#coin === NATIVE && side === "buy" ? units : 0n;
    const args = [this.#key, params, settings, "0x"];
    await chain.send(trader, this.#at.swapper, this.#swapper, "swap", args, value);
    await chain.mine();
    const [tokensAfter, coinsAfter] = await held();
    const tokens = side === "buy" ? tokensAfter - tokensBefore : tokensBefore - tokensAfter;
    const coins = side === "buy" ? coinsBefore - coinsAfter : coinsAfter - coinsBefore;
    const common = { at, group: "bsc", pool: this.id, token: this.#token } as const;
    this.events.push({ kind: "liquidity", ...common, usd: await this.#usd(), cause: "sync" });
    const price = significant(600n * coins, tokens, 18);
    const [amount, quoteUsd] = [divide(tokens, E18, 18), divide(600n * coins, E18, 18)];
    this.events.push({ kind: "trade", ...common, side, price, amount, quoteUsd, trader });
  }

  /** Returns the manager's coins, including fees. */
  coins(): Promise<bigint> {
    return this.#held(this.#coin, this.#at.manager);
  }

  async #held(token: string, account: string): Promise<bigint> {
    const { chain } = this.#exchange;
    if (token === NATIVE) return BigInt(await chain.ask<string>("eth_getBalance", [account, "latest"]));
    return BigInt(await chain.read(token, "token", "balanceOf", [account]));
  }

  /** Returns the expected dollars, by the test's positions and the contract's price and range. */
  async #usd(): Promise<string> {
    const { sqrtPrice, liquidity } = await this.#state();
    const near = this.#isFirst ? (liquidity * sqrtPrice) >> 96n : (liquidity << 96n) / sqrtPrice;
    const held = this.#heldCoins(sqrtPrice);
    return divide(2n * (near < held ? near : held) * 600n, E18, 18);
  }

  /** Returns the coins of all positions (Uniswap v3 whitepaper, 6.29 and 6.30). */
  #heldCoins(sqrtPrice: bigint): bigint {
    const clamp = (value: bigint, { lower, upper }: Position) => {
      const [low, high] = [sqrtPriceAt(lower), sqrtPriceAt(upper)];
      return value < low ? low : value > high ? high : value;
    };
    const sum = this.#positions.reduce((all, position) => {
      const now = clamp(sqrtPrice, position);
      const [low, high] = [sqrtPriceAt(position.lower), sqrtPriceAt(position.upper)];
      return all + position.liquidity * (this.#isFirst ? now - low : Q192 / now - Q192 / high);
    }, 0n);
    return sum >> 96n;
  }

  async #state(): Promise<{ sqrtPrice: bigint; liquidity: bigint }> {
    const slot = BigInt(
      keccak256(AbiParameters.encode(AbiParameters.from("bytes32, uint256"), [this.id as Hex, 6n])),
    );
    const { chain } = this.#exchange;
    const read = async (offset: bigint) => {
      const args = [`0x${(slot + offset).toString(16).padStart(64, "0")}`];
      return BigInt(await chain.read(this.#at.manager, this.#manager, "extsload", args));
    };
    return { sqrtPrice: BigInt.asUintN(160, await read(0n)), liquidity: BigInt.asUintN(128, await read(3n)) };
  }

  #packedKey(): Hex {
    const { currency0, currency1 } = this.#key;
    return AbiParameters.encode(KEY, [currency0 as Hex, currency1 as Hex, FEE, STEP, NATIVE]);
  }
}
