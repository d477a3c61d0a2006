import * as Abi from "ox/Abi";
import type { MarketEvent, Trade } from "../../../src/base/market/index.ts";
import type { Flare } from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { NETWORKS } from "../../../src/feeds/chain/networks.ts";
import { BlockTranslator } from "../../../src/feeds/chain/pools/block-translator.ts";
import type { EvmLog } from "../../../src/feeds/chain/pools/evm-log.ts";
import { sqrtPriceAt } from "../../../src/feeds/chain/pools/forms/positions/ticks.ts";
import { encodeEvent } from "../../support/world/encoded-event.ts";
import { crowdOf, playScripts } from "../trade-market.ts";
import { address, drive, MINUTE, START, withClocks } from "../trend-kit.ts";

const ABI = Abi.from([
  "event Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee, int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)",
  "event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)",
  "event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)",
]);
const { factories, quotes } = NETWORKS.bsc;
const MANAGER = factories.find(({ form }) => form === "uniswap-v4")?.address ?? "";
const DOLLAR = quotes.find(({ symbol }) => symbol === "USDT")?.address ?? "";
/** The pool's token. */
export const TOKEN = address(1);
const ID = `0x${"5e".repeat(32)}`;
/** Dollars on either side of the pool at a price of 1. */
export const SIDE_USD = 25_000;
const LIQUIDITY = BigInt(SIDE_USD) * 10n ** 18n;
function log(
  eventName: (typeof ABI)[number]["name"],
  values: Record<string, unknown>,
  origin: string,
): EvmLog {
  const args: Record<string, unknown> = { id: ID, sender: MANAGER, ...values };
  const { topics, data } = encodeEvent(ABI, eventName, args);
  return { address: MANAGER, topics, data, logIndex: 0, transactionHash: "0x01", origin };
}

const units = (amount: string | number) => BigInt(Math.round(Number(amount) * 1e9)) * 10n ** 9n;

/** Returns the swap as the manager logs it, with the swapper's amounts. */
function swapOf({ side, price, quoteUsd, trader = "" }: Trade): EvmLog {
  const sign = side === "buy" ? 1n : -1n;
  const tick = Math.floor(Math.log(Number(price)) / Math.log(1.0001));
  const amounts = {
    amount0: sign * units(Number(quoteUsd) / Number(price)),
    amount1: -sign * units(quoteUsd),
  };
  const range = { sqrtPriceX96: sqrtPriceAt(tick), liquidity: LIQUIDITY, tick };
  return log("Swap", { ...amounts, ...range, fee: 3_000 }, trader);
}

/** Returns the trades as events of one V4 pool with 25,000 dollars on either side. */
function inSingleton(trades: readonly Trade[]): MarketEvent[] {
  const translator = new BlockTranslator(NETWORKS.bsc);
  translator.pools.learnToken(TOKEN, { address: TOKEN, decimals: 18, symbol: "WASH", name: "Wash" });
  const currencies = { currency0: TOKEN, currency1: DOLLAR, hooks: address(0) };
  const price = { sqrtPriceX96: 1n << 96n, tick: 0, fee: 3_000, tickSpacing: 60 };
  const position = { tickLower: -887_220, tickUpper: 887_220, salt: `0x${"0".repeat(64)}` };
  const born = [
    log("Initialize", { ...currencies, ...price }, address(2)),
    log("ModifyLiquidity", { ...position, liquidityDelta: LIQUIDITY }, address(2)),
  ];
  const blocks = [
    { atMs: START - 1_000, logs: born },
    ...trades.map((trade) => ({ atMs: trade.at, logs: [swapOf(trade)] })),
  ];
  return blocks.flatMap(({ atMs, logs: raw }, number) => {
    const logs = raw.map((one) => ({ ...one, transactionHash: `0x${number}` }));
    return translator.translate(translator.read({ number, hash: "0x", parentHash: "0x", atMs, logs }));
  });
}

/** Plays the pool among eight quiet tokens, and reports its token's flares and canary. */
export function playInSingleton(trades: readonly Trade[], minutes: number) {
  const crowd = playScripts(crowdOf(8), minutes, 2);
  const events = [...crowd, ...inSingleton(trades)];
  const engine = new TrendEngine();
  const flares = new Set<string>();
  const free = new Set<string>();
  let [canarySeconds, canaryAt, lastFreeAt] = [0, Number.NaN, 0];
  drive(engine, withClocks(events, START + minutes * MINUTE, START - 3_000), (snapshot, at) => {
    const own = (flare: Flare) => flare.token.address === TOKEN;
    for (const { id } of snapshot.flares.pro.filter(own)) flares.add(id);
    for (const { id } of snapshot.flares.free.filter(own)) free.add(id);
    if (snapshot.flares.free.some(own)) lastFreeAt = (at - START) / MINUTE;
    if (engine.trendOf("bsc", TOKEN)?.canarySinceMs == null) return;
    canarySeconds += 1;
    if (Number.isNaN(canaryAt)) canaryAt = (at - START) / MINUTE;
  });
  return { flares: flares.size, free: free.size, canarySeconds, canaryAt, lastFreeAt };
}
