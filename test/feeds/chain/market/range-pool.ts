import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Abi } from "ox/Abi";
import * as ContractAddress from "ox/ContractAddress";
import type { Hex } from "ox/Hex";
import type { TestContext } from "vitest";
import type { MarketEvent } from "../../../../src/base/market/index.ts";
import type { Network } from "../../../../src/feeds/chain/network.ts";
import { fetchedPackage } from "../../../support/setup/fetched-package.ts";
import { addressIn, type Contract, OWNER, wallet } from "../nodes/test-chain.ts";
import { E18, Exchange } from "./exchange.ts";
import { divide, significant } from "./ledger.ts";

/** About the highest tick. */
export const FULL = 887_200;
const MAX_SQRT = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n;
const MIN_SQRT = 4_295_128_740n;

/*
 * Algebra Integral's package is large, so it is not a dependency: npm fetches it on first use.
 */
const INTEGRAL_NAME = "@cryptoalgebra/integral-core";
const INTEGRAL_PACKAGE = fetchedPackage(INTEGRAL_NAME, "1.2.10");

/** Skips the test by name if npm cannot fetch the factory's package; an error with CI=true. */
export function needPackage(factory: FactoryName, skip: TestContext["skip"]): void {
  const isMissing = factory === "integralFactory" && INTEGRAL_PACKAGE === undefined;
  skip(isMissing, `npm cannot fetch ${INTEGRAL_NAME}`);
}

function integral(name: string): Contract {
  if (!INTEGRAL_PACKAGE) return { abi: [], bytecode: "0x" };
  const path = join(INTEGRAL_PACKAGE, `artifacts/contracts/${name}.sol/${name}.json`);
  return JSON.parse(readFileSync(path, "utf8")) as { abi: Abi; bytecode: Hex };
}

/** Creates custom pools of Algebra Integral. Its code answers every call with zero. */
export const DEPLOYER = wallet(77);

/** By factory: the kind of its pools, and the functions that find and fill them. */
export const FORMS = {
  v3Factory: { kind: "v3Pool", lookUp: "getPool", fee: [3_000], mint: "mint", burn: "burn", step: 60 },
  cakeFactory: { kind: "cakePool", lookUp: "getPool", fee: [2_500], mint: "mint", burn: "burn", step: 50 },
  algebraFactory: {
    kind: "algebraPool",
    lookUp: "poolByPair",
    fee: [],
    mint: "mintAlgebra",
    burn: "burn",
    step: 60,
  },
  integralFactory: {
    kind: integral("AlgebraPool"),
    lookUp: "customPoolByPair",
    fee: [],
    mint: "mintAlgebra",
    burn: "burnIntegral",
    step: 60,
  },
} as const;

type FactoryName = keyof typeof FORMS;
type Form = (typeof FORMS)[FactoryName];

/** Deploys Algebra Integral's factory, which lets {@link DEPLOYER} create pools. */
async function openIntegral({ chain, network }: Exchange): Promise<{ factory: string; network: Network }> {
  const count = Number(await chain.ask<string>("eth_getTransactionCount", [OWNER, "pending"]));
  // Each contract gets the address of the other.
  const next = ContractAddress.fromCreate({ from: OWNER, nonce: BigInt(count + 1) }).toLowerCase();
  const deployer = await chain.deploy(integral("AlgebraPoolDeployer"), [next]);
  const factory = await chain.deploy(integral("AlgebraFactory"), [deployer]);
  const role = await chain.read(factory, integral("AlgebraFactory"), "CUSTOM_POOL_DEPLOYER");
  await chain.send(OWNER, factory, integral("AlgebraFactory"), "grantRole", [role, DEPLOYER]);
  await chain.ask("anvil_setCode", [DEPLOYER, "0x60206000f3"]);
  await chain.mine();
  const added = { name: "Integral", form: "algebra", address: factory, deployers: [DEPLOYER] } as const;
  return { factory, network: { ...network, factories: [...network.factories, added] } };
}

/** A V3 pool that the test trades in, with expected amounts from the tokens' own balances. */
export class RangePool {
  readonly events: MarketEvent[] = [];
  readonly #exchange: Exchange;
  readonly #token: string;
  readonly #pool: string;
  readonly #isFirst: boolean;
  readonly #form: Form;
  #owed = 0n;

  /** The exchange's network, with the pool's factory. */
  readonly network: Network;

  constructor(exchange: Exchange, network: Network, token: string, pool: string, form: Form) {
    this.network = network;
    this.#form = form;
    this.#exchange = exchange;
    this.#token = token;
    this.#pool = pool;
    this.#isFirst = BigInt(token) < BigInt(exchange.coin);
  }

  static async open(exchange: Exchange, factory: FactoryName, token: string): Promise<RangePool> {
    const { chain, coin } = exchange;
    const { kind, lookUp, fee } = FORMS[factory];
    if (factory === "integralFactory") {
      const { factory: address, network } = await openIntegral(exchange);
      const custom = [DEPLOYER, OWNER, token, coin, "0x"];
      await chain.send(DEPLOYER, address, integral("AlgebraFactory"), "createCustomPool", custom);
      await chain.mine();
      const lookUpArgs = [DEPLOYER, token, coin];
      const pool = addressIn(await chain.read(address, integral("AlgebraFactory"), lookUp, lookUpArgs));
      await chain.send(OWNER, pool, kind, "initialize", [1n << 96n]);
      await chain.mine();
      return new RangePool(exchange, network, token, pool, FORMS[factory]);
    }
    const pair = [token, coin, ...fee];
    await chain.send(OWNER, exchange[factory], factory, "createPool", pair);
    await chain.mine();
    const pool = addressIn(await chain.read(exchange[factory], factory, lookUp, pair));
    await chain.send(OWNER, pool, kind, "initialize", [1n << 96n]);
    // A quarter of the fees leaves the pool with each swap, without a log.
    if (kind === "algebraPool") await chain.send(OWNER, pool, kind, "setCommunityFee", [250, 250]);
    await chain.mine();
    return new RangePool(exchange, exchange.network, token, pool, FORMS[factory]);
  }

  get chain(): Exchange["chain"] {
    return this.#exchange.chain;
  }

  /** Returns the pool's coins, including amounts that makers have not collected. */
  #coins(): Promise<bigint> {
    return this.#held(this.#exchange.coin, this.#pool);
  }

  async #held(token: string, account: string): Promise<bigint> {
    return BigInt(await this.#exchange.chain.read(token, "token", "balanceOf", [account]));
  }

  /** Returns the expected dollars, by the contract's liquidity in range and its coins. */
  async #usd(): Promise<string> {
    const { chain } = this.#exchange;
    const { kind } = this.#form;
    const isAlgebra = this.#form.mint === "mintAlgebra";
    const state = await chain.read(this.#pool, kind, isAlgebra ? "globalState" : "slot0");
    const sqrtPrice = BigInt(state.slice(0, 66));
    const liquidity = BigInt(await chain.read(this.#pool, kind, "liquidity"));
    const near = this.#isFirst ? (liquidity * sqrtPrice) >> 96n : (liquidity << 96n) / sqrtPrice;
    const held = (await this.#coins()) - this.#owed;
    return divide(2n * (near < held ? near : held) * 600n, E18, 18);
  }

  async list(range: number, liquidity: bigint, names: { symbol: string; name: string }): Promise<void> {
    const at = this.#exchange.chain.nextAt * 1_000;
    await this.#act(OWNER, this.#form.mint, [this.#pool, -range, range, liquidity]);
    const [token, pool] = [this.#token, this.#pool];
    this.events.push({ kind: "profile", at, group: "bsc", token, ...names });
    this.events.push({ kind: "listing", at, group: "bsc", pool, token, liquidity: await this.#usd() });
  }

  /** Adds liquidity between two ticks, which increase as the token's price in coins falls. */
  async add(from: number, to: number, liquidity: bigint): Promise<void> {
    const at = this.#exchange.chain.nextAt * 1_000;
    const ticks = this.#isFirst ? [-to, -from] : [from, to];
    await this.#act(OWNER, this.#form.mint, [this.#pool, ...ticks, liquidity]);
    this.events.push({ ...this.#liquidityEvent(at), usd: await this.#usd(), cause: "add" });
  }

  async swap(trader: string, side: "buy" | "sell", units: bigint): Promise<void> {
    const { chain, coin } = this.#exchange;
    const at = chain.nextAt * 1_000;
    const balances = async () =>
      [await this.#held(this.#token, trader), await this.#held(coin, trader)] as const;
    const [tokensBefore, coinsBefore] = await balances();
    const isUp = (side === "buy") === this.#isFirst;
    await this.#act(trader, "swap", [this.#pool, !isUp, units, isUp ? MAX_SQRT : MIN_SQRT]);
    const [tokensAfter, coinsAfter] = await balances();
    const tokens = side === "buy" ? tokensAfter - tokensBefore : tokensBefore - tokensAfter;
    const coins = side === "buy" ? coinsBefore - coinsAfter : coinsAfter - coinsBefore;
    const common = { at, group: "bsc", pool: this.#pool, token: this.#token } as const;
    this.events.push({ kind: "liquidity", ...common, usd: await this.#usd(), cause: "sync" });
    const price = significant(600n * coins, tokens, 18);
    const [amount, quoteUsd] = [divide(tokens, E18, 18), divide(600n * coins, E18, 18)];
    this.events.push({ kind: "trade", ...common, side, price, amount, quoteUsd, trader });
  }

  /** Removes liquidity from its range. It is then owed to the maker, and no longer liquidity. */
  async burn(range: number, liquidity: bigint): Promise<void> {
    const { chain, v3Router } = this.#exchange;
    const at = chain.nextAt * 1_000;
    const { burn, kind } = this.#form;
    const args = [-range, range, liquidity];
    const result =
      burn === "burn"
        ? await chain.read(this.#pool, "v3Pool", "burn", args, v3Router)
        : await chain.read(this.#pool, kind, "burn", [...args, "0x"], v3Router);
    const [owed0 = 0n, owed1 = 0n] = [result.slice(2, 66), result.slice(66, 130)].map((word) =>
      BigInt(`0x${word}`),
    );
    await this.#act(OWNER, burn, [this.#pool, ...args]);
    this.#owed += this.#isFirst ? owed1 : owed0;
    this.events.push({ ...this.#liquidityEvent(at), usd: await this.#usd(), cause: "remove" });
  }

  /** Collects the owed amounts and the fees. Only the fees still counted as liquidity. */
  async collect(range: number): Promise<void> {
    const at = this.#exchange.chain.nextAt * 1_000;
    await this.#act(OWNER, "collect", [this.#pool, -range, range]);
    this.#owed = 0n;
    this.events.push({ ...this.#liquidityEvent(at), usd: await this.#usd(), cause: "sync" });
  }

  #liquidityEvent(at: number) {
    return { kind: "liquidity", at, group: "bsc", pool: this.#pool, token: this.#token } as const;
  }

  async #act(from: string, name: string, args: readonly unknown[]): Promise<void> {
    const { chain, v3Router } = this.#exchange;
    await chain.send(from, v3Router, "v3Router", name, args);
    await chain.mine();
  }
}

/** Opens an exchange with a pool, and two wallets that can trade in it. */
export async function openPool(factory: FactoryName): Promise<{ exchange: Exchange; pool: RangePool }> {
  const exchange = await Exchange.open();
  const token = await exchange.token("Range", "RNG");
  for (const account of [wallet(1), wallet(2)]) {
    for (const one of [token, exchange.coin]) {
      await exchange.approve(account, one);
      await exchange.give(one, account, 1_000n * E18);
    }
  }
  return { exchange, pool: await RangePool.open(exchange, factory, token) };
}
