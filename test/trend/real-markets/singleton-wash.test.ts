import { encodeAbiParameters, encodeEventTopics, parseAbi } from "viem";
import { expect, test } from "vitest";
import { NETWORKS } from "../../../src/feed/chain/networks.ts";
import { BlockTranslator } from "../../../src/feed/chain/pools/block-translator.ts";
import type { EvmLog } from "../../../src/feed/chain/pools/evm-log.ts";
import { sqrtPriceAt } from "../../../src/feed/chain/pools/forms/positions/ticks.ts";
import type { MarketEvent, Trade } from "../../../src/market/index.ts";
import type { Flare } from "../../../src/model/index.ts";
import { TrendEngine } from "../../../src/trend/index.ts";
import { crowdOf, playScripts, type Script } from "../trade-market.ts";
import { address, drive, MINUTE, START, trade, withClocks } from "../trend-kit.ts";

const ABI = parseAbi([
  "event Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee, int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)",
  "event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)",
  "event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)",
]);
const { factories, quotes } = NETWORKS.bsc;
const MANAGER = factories.find(({ form }) => form === "uniswap-v4")?.address ?? "";
const DOLLAR = quotes.find(({ symbol }) => symbol === "USDT")?.address ?? "";
const TOKEN = address(1);
const ID = `0x${"5e".repeat(32)}`;
const LIQUIDITY = 25_000n * 10n ** 18n;
const RISE_AT = 90;
const MINUTES = 120;
const isRise = (minute: number) => minute >= RISE_AT && minute < RISE_AT + 12;

function log(
  eventName: (typeof ABI)[number]["name"],
  values: Record<string, unknown>,
  origin: string,
): EvmLog {
  const args: Record<string, unknown> = { id: ID, sender: MANAGER, ...values };
  const entry = ABI.find(({ name }) => name === eventName);
  const plain = entry?.inputs.filter((input) => !("indexed" in input)) ?? [];
  const topics = encodeEventTopics({ abi: ABI, eventName, args } as never) as string[];
  const data = encodeAbiParameters(plain, plain.map(({ name = "" }) => args[name]) as never);
  return { address: MANAGER, topics, data, logIndex: 0, transactionHash: "0x01", origin };
}

const units = (amount: string | number) => BigInt(Math.round(Number(amount) * 1e9)) * 10n ** 9n;

/** The swap as the manager reports it: amounts are the swapper's. */
function swapOf({ side, price, quoteUsd, trader }: Trade): EvmLog {
  const sign = side === "buy" ? 1n : -1n;
  const tick = Math.floor(Math.log(Number(price)) / Math.log(1.0001));
  const amounts = {
    amount0: sign * units(Number(quoteUsd) / Number(price)),
    amount1: -sign * units(quoteUsd),
  };
  const range = { sqrtPriceX96: sqrtPriceAt(tick), liquidity: LIQUIDITY, tick };
  return log("Swap", { ...amounts, ...range, fee: 3_000 }, trader);
}

/** These trades, as they reach the engine from one V4 pool with 25,000 dollars on either side. */
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
  return blocks.flatMap(({ atMs, logs }, number) =>
    translator.translate(translator.read({ number, hash: "0x", parentHash: "0x", atMs, logs })),
  );
}

/** Plays the pool among eight quiet tokens, and reports what became of its token. */
function play(trades: readonly Trade[]) {
  const crowd = playScripts(crowdOf(8), MINUTES, 2);
  const events = [...crowd, ...inSingleton(trades)];
  const engine = new TrendEngine();
  const flares = new Set<string>();
  const free = new Set<string>();
  let canarySeconds = 0;
  drive(engine, withClocks(events, START + MINUTES * MINUTE, START - 3_000), (snapshot) => {
    const own = (flare: Flare) => flare.token.address === TOKEN;
    for (const { id } of snapshot.flares.pro.filter(own)) flares.add(id);
    for (const { id } of snapshot.flares.free.filter(own)) free.add(id);
    if (engine.trendOf("bsc", TOKEN)?.canarySinceMs != null) canarySeconds += 1;
  });
  return { flares: flares.size, free: free.size, canarySeconds };
}

const wallet = (n: number) => `0x${(n + 10).toString(16).padStart(40, "0")}`;
const isTrade = (event: MarketEvent) => event.kind === "trade";

function scripted(part: Partial<Script>): readonly Trade[] {
  const script: Script = { token: TOKEN, rate: () => 2, buyShare: () => 0.5, ...part };
  return playScripts([script], MINUTES).filter(isTrade);
}

/** Each wallet buys and sells the same amount a second later, two hundred trades a minute. */
function farmed(wallets: number): readonly Trade[] {
  const quiet = scripted({});
  const rounds = Array.from({ length: 12 * 100 }, (_, n) => {
    const at = START + RISE_AT * MINUTE + n * 600;
    const { price } = quiet.findLast((trade) => trade.at <= at) ?? { price: "1" };
    const one = { ...trade(at, TOKEN), price, quoteUsd: "500", trader: wallet(n % wallets) };
    return [one, { ...one, at: at + 300, side: "sell" } as const];
  });
  return [...quiet, ...rounds.flat()].toSorted((one, other) => one.at - other.at);
}

/** A hundred and twenty trades a minute, some more of them purchases. */
function pushed(wallets: number, usd: number): readonly Trade[] {
  return scripted({
    rate: (minute) => (isRise(minute) ? 120 : 2),
    buyShare: (minute) => (isRise(minute) ? 0.54 : 0.5),
    trader: (_, count) => wallet(count % wallets),
    usd,
  });
}

test.each([
  ["5 wallets sell what they bought, two hundred times a minute", farmed(5)],
  ["40 wallets sell what they bought, two hundred times a minute", farmed(40)],
  ["10 wallets push the price up by trades to and fro", pushed(10, 60)],
  ["30 wallets push the price up by trades to and fro", pushed(30, 30)],
])("%s in one V4 pool: the canary is on, and no flare enters the free list", (_, trades) => {
  const { free, canarySeconds } = play(trades);
  expect(free).toBe(0);
  expect(canarySeconds).toBeGreaterThan(180);
});

test("a rush of distinct buyers into one V4 pool starts a flare that enters the free list", () => {
  const rush = scripted({
    rate: (minute) => (isRise(minute) ? 25 : 2),
    buyShare: (minute) => (isRise(minute) ? 0.8 : 0.5),
  });
  expect(play(rush)).toEqual({ flares: 1, free: 1, canarySeconds: 0 });
});
