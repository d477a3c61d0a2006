import * as Abi from "ox/Abi";
import type { MarketEvent } from "../../../../src/base/market/index.ts";
import { NETWORKS } from "../../../../src/feeds/chain/networks.ts";
import { BlockTranslator } from "../../../../src/feeds/chain/pools/block-translator.ts";
import type { EvmLog } from "../../../../src/feeds/chain/pools/evm-log.ts";
import { CURVE } from "../../../../src/feeds/chain/pools/forms/curves.ts";
import type { Call, Inquiry } from "../../../../src/feeds/chain/pools/forms/pool-form.ts";
import { encodeEvent } from "../../../support/world/encoded-event.ts";
import { E18 } from "./exchange.ts";

/*
 * No package has the contracts of four.meme and flap. Their logs are built from the published
 * signatures, see curves.ts.
 */

/** The launchpads' events. */
export const LAUNCHPAD_ABI = Abi.from([
  "event TokenCreate(address creator, address token, uint256 requestId, string name, string symbol, uint256 totalSupply, uint256 launchTime, uint256 launchFee)",
  "event TokenPurchase(address token, address account, uint256 price, uint256 amount, uint256 cost, uint256 fee, uint256 offers, uint256 funds)",
  "event TokenSale(address token, address account, uint256 price, uint256 amount, uint256 cost, uint256 fee, uint256 offers, uint256 funds)",
  "event LiquidityAdded(address base, uint256 offers, address quote, uint256 funds)",
  "event TokenCreated(uint256 ts, address creator, uint256 nonce, address token, string name, string symbol, string meta)",
  "event TokenBought(uint256 ts, address token, address buyer, uint256 amount, uint256 eth, uint256 fee, uint256 postPrice)",
  "event TokenSold(uint256 ts, address token, address seller, uint256 amount, uint256 eth, uint256 fee, uint256 postPrice)",
  "event LaunchedToDEX(address token, address pool, uint256 amount, uint256 eth)",
]);
/** The events of Arena. Some share their names with other launchpads' events. */
export const ARENA_ABI = Abi.from([
  "struct Params { uint128 curveScaler; uint16 a; uint8 b; bool lpDeployed; uint8 lpPercentage; uint8 salePercentage; uint8 creatorFeeBasisPoints; address creatorAddress; address pairAddress; address tokenContractAddress; }",
  "event TokenCreated(uint256 tokenId, Params params, uint256 tokenSupply)",
  "event Buy(address user, uint256 tokenId, uint256 tokenAmount, uint256 cost, uint256 tokenSupply, address referrerAddress, uint256 referralFee, uint256 creatorFee, uint256 protocolFee)",
  "event Sell(address user, uint256 tokenId, uint256 tokenAmount, uint256 reward, uint256 tokenSupply, address referrerAddress, uint256 referralFee, uint256 creatorFee, uint256 protocolFee)",
  "event TokenLPCreated(uint256 tokenId, uint256 amountToken, uint256 amountAVAX, uint256 liquidity)",
]);
const V2_ABI = Abi.from([
  "event PairCreated(address indexed token0, address indexed token1, address pair, uint256 serial)",
  "event Sync(uint112 reserve0, uint112 reserve1)",
  "event Mint(address indexed sender, uint256 amount0, uint256 amount1)",
  "event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)",
  "event Transfer(address indexed from, address indexed to, uint256 units)",
]);
const ABI = [...LAUNCHPAD_ABI, ...V2_ABI] as const;
type EventName = (typeof ABI)[number]["name"];

const { factories, quotes } = NETWORKS.bsc;
const addressOf = (name: string) => factories.find((one) => one.name === name)?.address ?? "";
const quoteOf = (name: string) => quotes.find(({ symbol }) => symbol === name)?.address ?? "";
export const FOUR_MEME = addressOf("four.meme");
export const FLAP = addressOf("flap");
export const V2_FACTORY = addressOf("PancakeSwap V2");
export const WBNB = quoteOf("WBNB");
const USDT = quoteOf("USDT");
const ANCHOR = "0x00000000000000000000000000000000000a0c40";

/** Encodes an event as its contract would. */
export function encodeLog(eventName: EventName, args: Readonly<Record<string, unknown>>) {
  return encodeEvent(ABI, eventName, args);
}

/** Runs an inquiry to its end. Answers each call by the name of its function. */
export function answer<T>(
  inquiry: Inquiry<T>,
  answers: Readonly<Record<string, (call: Call) => unknown>>,
): T {
  let step = inquiry.next([]);
  while (!step.done) step = inquiry.next(step.value.map((call) => answers[call.functionName]?.(call)));
  return step.value;
}

/** Builds blocks of BSC in which a BNB costs 600 dollars, and collects their events. */
export class LaunchBlocks {
  readonly translator = new BlockTranslator(NETWORKS.bsc);
  readonly events: MarketEvent[] = [];
  #logs: EvmLog[] = [];
  #transaction = 0;
  #block = 1_000;

  constructor() {
    const [token0, token1] = BigInt(WBNB) < BigInt(USDT) ? [WBNB, USDT] : [USDT, WBNB];
    const reserves = { [WBNB]: 1_000n * E18, [USDT]: 600_000n * E18 };
    this.send(wallets(99));
    this.log(V2_FACTORY, "PairCreated", { token0, token1, pair: ANCHOR, serial: 1n });
    this.log(ANCHOR, "Sync", { reserve0: reserves[token0] ?? 0n, reserve1: reserves[token1] ?? 0n });
    this.mine();
    this.mine();
  }

  /** Event time of the current block. */
  get atMs(): number {
    return this.#block * 1_000;
  }

  /** Begins a transaction. */
  send(origin: string): this {
    this.#transaction += 1;
    this.#origin = origin;
    return this;
  }

  #origin = "";

  log(address: string, eventName: EventName, args: Readonly<Record<string, unknown>>): this {
    const { topics, data } = encodeLog(eventName, args);
    const common = { logIndex: this.#logs.length, transactionHash: `0x${this.#transaction}` };
    this.#logs.push({ address, topics, data, ...common, origin: this.#origin });
    return this;
  }

  /**
   * Translates the block and starts the next. `contracts` answers calls about unknown tokens.
   */
  mine(contracts: Readonly<Record<string, (call: Call) => unknown>> = {}): this {
    const { translator } = this;
    const block = { number: this.#block, hash: "0x", parentHash: "0x", atMs: this.atMs, logs: this.#logs };
    const read = translator.read(block);
    const known = new Map(factories.map((factory) => [factory.address as string, factory]));
    const identities = translator.unknownPools(read.logs).flatMap((pool) => {
      if (pool.form !== "curve") return [];
      return answer(CURVE.identify(pool, known), contracts) ?? [];
    });
    const tokens = [...identities.map(({ token0 }) => token0), ...translator.unknownTokens(read.logs)];
    for (const address of new Set(tokens))
      translator.pools.learnToken(address, { address, decimals: 18, symbol: "MEME", name: "Meme" });
    for (const identity of identities) {
      const [factory] = factories.filter(({ form }) => form === "four-meme");
      if (!factory) throw new Error("no launchpad");
      const state = answer(CURVE.readState(identity, factory, this.#block - 1), contracts);
      translator.pools.learnPool({ ...identity, state });
    }
    this.events.push(...translator.translate(read));
    this.#logs = [];
    this.#block += 1;
    return this;
  }
}

/** Returns the address of an account. */
export function wallets(number: number): string {
  return `0x${(0xca11_0000 + number).toString(16).padStart(40, "0")}`;
}
