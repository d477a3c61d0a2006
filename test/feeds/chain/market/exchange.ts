import type { Network } from "../../../../src/feeds/chain/network.ts";
import { addressIn, CONTRACTS, OWNER, TestChain } from "../nodes/test-chain.ts";

/** 10^18. */
export const E18 = 10n ** 18n;
const FOREVER = 4_000_000_000n;
const ALL = 2n ** 256n - 1n;
const SUPPLY = 10n ** 30n;
/** Receives the community's share of the fees of Algebra's pools. */
export const VAULT = "0x0000000000000000000000000000000000ab1e00";

/**
 * A chain with the factories and routers of three exchanges, a stablecoin, a wrapped coin, and
 * their pool at 600 dollars.
 */
export class Exchange {
  readonly chain: TestChain;
  readonly network: Network;
  readonly v2Router: string;
  readonly v3Router: string;
  readonly v2Factory: string;
  readonly v3Factory: string;
  readonly cakeFactory: string;
  readonly algebraFactory: string;
  readonly usd: string;
  readonly coin: string;

  private constructor(chain: TestChain, at: Readonly<Record<string, string>>) {
    const {
      v2Router = "",
      v3Router = "",
      v2Factory = "",
      v3Factory = "",
      cakeFactory = "",
      algebraFactory = "",
      usd = "",
      coin = "",
    } = at;
    this.chain = chain;
    this.v2Router = v2Router;
    this.v3Router = v3Router;
    this.v2Factory = v2Factory;
    this.v3Factory = v3Factory;
    this.cakeFactory = cakeFactory;
    this.algebraFactory = algebraFactory;
    this.usd = usd;
    this.coin = coin;
    this.network = {
      name: "test",
      group: "bsc",
      chainId: chain.chainId,
      finalityBlocks: 2,
      factories: [
        { name: "V2", form: "v2", address: v2Factory },
        { name: "V3", form: "v3", address: v3Factory },
        { name: "Cake", form: "v3", address: cakeFactory },
        { name: "Algebra", form: "algebra", address: algebraFactory },
      ],
      quotes: [
        { symbol: "USDT", address: usd, decimals: 18, isStable: true },
        { symbol: "WBNB", address: coin, decimals: 18, isStable: false },
      ],
      rpcUrls: [chain.url],
    };
  }

  /** Deploys everything, and lists the coin at 600 dollars with 600,000 dollars on either side. */
  static async open(): Promise<Exchange> {
    const chain = await TestChain.open(56);
    const deployer = await chain.deploy("cakeDeployer", [CONTRACTS.cakePool.bytecode]);
    const algebraDeployer = await chain.deploy("algebraDeployer");
    const algebraFactory = await chain.deploy("algebraFactory", [algebraDeployer, VAULT]);
    await chain.send(OWNER, algebraDeployer, "algebraDeployer", "setFactory", [algebraFactory]);
    return Exchange.#list(chain, {
      v2Factory: await chain.deploy("v2Factory", [OWNER]),
      v3Factory: await chain.deploy("v3Factory"),
      cakeFactory: await chain.deploy("cakeFactory", [deployer]),
      algebraFactory,
      usd: await chain.deploy("token", ["Tether USD", "USDT", 18, SUPPLY, 0n]),
      coin: await chain.deploy("token", ["Wrapped BNB", "WBNB", 18, SUPPLY, 0n]),
    });
  }

  /**
   * Does the same, with the V2 factory, the stablecoin and the coin at a real chain's addresses.
   */
  static async openAs({ factories, quotes, chainId }: Network, startS?: number): Promise<Exchange> {
    const chain = await TestChain.open(chainId);
    if (startS !== undefined) chain.nextAt = startS;
    const v2Factory = factories.find(({ form }) => form === "v2")?.address ?? "";
    const { address: usd = "", decimals = 18 } = quotes.find(({ isStable }) => isStable) ?? {};
    const coin = quotes.find(({ isStable }) => !isStable)?.address ?? "";
    await chain.copy(await chain.deploy("v2Factory", [OWNER]), v2Factory);
    const token = await chain.deploy("token", ["", "", 18, SUPPLY, 0n]);
    for (const address of [usd, coin]) {
      await chain.copy(token, address);
      await chain.endow(address, OWNER, SUPPLY);
    }
    return Exchange.#list(chain, { v2Factory, usd, coin }, 10n ** BigInt(decimals));
  }

  static async #list(
    chain: TestChain,
    at: Readonly<Record<string, string>>,
    dollar = E18,
  ): Promise<Exchange> {
    const v3Router = await chain.deploy("v3Router");
    const v2Router = await chain.deploy("v2Router", [at.v2Factory, at.coin]);
    const exchange = new Exchange(chain, { ...at, v2Router, v3Router });
    await exchange.approve(OWNER, exchange.usd);
    await exchange.approve(OWNER, exchange.coin);
    await exchange.addV2(exchange.coin, 1_000n * E18, exchange.usd, 600_000n * dollar);
    await chain.mine();
    return exchange;
  }

  /** Deploys a token. The owner has the whole supply and approves the routers. */
  async token(
    name: string,
    symbol: string,
    options: { decimals?: number; fee?: bigint; supply?: bigint } = {},
  ): Promise<string> {
    const { decimals = 18, fee = 0n, supply = 10n ** 9n * 10n ** BigInt(decimals) } = options;
    const address = await this.chain.deploy("token", [name, symbol, decimals, supply, fee]);
    await this.approve(OWNER, address);
    return address;
  }

  /** Approves the routers for an account's token. */
  async approve(account: string, token: string): Promise<void> {
    for (const router of [this.v2Router, this.v3Router])
      await this.chain.send(account, token, "token", "approve", [router, ALL]);
  }

  /** Transfers the owner's tokens to an account. */
  give(token: string, account: string, units: bigint): Promise<void> {
    return this.chain.send(OWNER, token, "token", "transfer", [account, units]);
  }

  /** Adds the owner's liquidity. */
  addV2(token: string, units: bigint, quote: string, quoteUnits: bigint): Promise<void> {
    const args = [token, quote, units, quoteUnits, 0n, 0n, OWNER, FOREVER];
    return this.chain.send(OWNER, this.v2Router, "v2Router", "addLiquidity", args);
  }

  /** Removes a share of the owner's liquidity, in ten-thousandths. */
  async removeV2(token: string, quote: string, basisPoints: bigint): Promise<void> {
    const pair = await this.pairOf(token, quote);
    const held = BigInt(await this.chain.read(pair, "v2Pair", "balanceOf", [OWNER]));
    const units = (held * basisPoints) / 10_000n;
    await this.chain.send(OWNER, pair, "v2Pair", "approve", [this.v2Router, ALL]);
    await this.chain.send(OWNER, this.v2Router, "v2Router", "removeLiquidity", [
      token,
      quote,
      units,
      0n,
      0n,
      OWNER,
      FOREVER,
    ]);
  }

  /** Swaps this many units along a path at any price, even with tokens that take a fee. */
  swapV2(account: string, units: bigint, path: readonly string[]): Promise<void> {
    const name = "swapExactTokensForTokensSupportingFeeOnTransferTokens";
    return this.chain.send(account, this.v2Router, "v2Router", name, [units, 0n, path, account, FOREVER]);
  }

  /** Returns the V2 pool of two tokens. */
  async pairOf(first: string, second: string): Promise<string> {
    return addressIn(await this.chain.read(this.v2Factory, "v2Factory", "getPair", [first, second]));
  }
}
