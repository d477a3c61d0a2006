import * as Abi from "ox/Abi";
import { describe, expect, test } from "vitest";
import { NETWORKS } from "../../../../../src/feeds/chain/networks.ts";
import { BlockTranslator } from "../../../../../src/feeds/chain/pools/block-translator.ts";
import type { EvmLog } from "../../../../../src/feeds/chain/pools/evm-log.ts";
import { RangeState } from "../../../../../src/feeds/chain/pools/forms/ranges.ts";
import { encodeEvent } from "../../../../support/world/encoded-event.ts";

const ABI = Abi.from([
  "event Transfer(address indexed from, address indexed to, uint256 units)",
  "event Initialize(uint160 sqrtPriceX96, int24 tick)",
  "event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
  "event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
  "event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)",
  "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)",
]);
const { quotes, factories } = NETWORKS.bsc;
const DOLLAR = quotes.find(({ symbol }) => symbol === "USDT") ?? quotes[0];
const FACTORY = factories.find(({ form }) => form === "v3")?.address ?? "";
const TOKEN = "0x00000000000000000000000000000000000000aa";
const POOL = "0x00000000000000000000000000000000000000bb";
const MAKER = "0x00000000000000000000000000000000000000cc";
const FULL = 887_200;

/** A maker's liquidity, in whole units, between two ticks. */
interface Position {
  readonly lower: number;
  readonly upper: number;
  readonly liquidity: number;
}

const WIDE: Position = { lower: -FULL, upper: FULL, liquidity: 50_000 };

/** Models a pool of ranges with dollars on one side in floating point. Emits real logs. */
class ModelPool {
  readonly translator = new BlockTranslator(NETWORKS.bsc);
  /** Cause, or `listing`, and whole dollars of each report of liquidity. */
  readonly reports: (readonly [string, number])[] = [];
  readonly #dollarIndex: 0 | 1;
  #positions: Position[] = [];
  #tick = 0;
  #logs: EvmLog[] = [];
  #block = 1_000;

  constructor(dollarIndex: 0 | 1 = 1) {
    this.#dollarIndex = dollarIndex;
    const facts = { address: TOKEN, decimals: 18, symbol: "T", name: "Token" };
    this.translator.pools.learnToken(TOKEN, facts);
  }

  get #tokens(): { token0: string; token1: string } {
    const [token0, token1] = this.#dollarIndex === 0 ? [DOLLAR.address, TOKEN] : [TOKEN, DOLLAR.address];
    return { token0, token1 };
  }

  /** Creates the pool at a price of one dollar. */
  create(): this {
    this.translator.pools.create({
      kind: "created",
      form: "v3",
      factory: FACTORY,
      pool: POOL,
      ...this.#tokens,
    });
    this.#log("Initialize", { sqrtPriceX96: sqrtX96(0), tick: 0 });
    return this;
  }

  /** Adds a pool that existed before, with these positions, as of the end of a block. */
  learn(positions: readonly Position[], countedAtBlock: number, isRangeKnown = true): this {
    this.#positions = [...positions];
    const liquidity = this.#inRange();
    const balances = this.#sum(0);
    const range = isRangeKnown ? { sqrtPriceX96: sqrtX96(0), tick: 0, liquidity } : undefined;
    const state = new RangeState({ balances, range, atBlock: countedAtBlock });
    const identity = { pool: POOL, form: "v3", factory: FACTORY, ...this.#tokens } as const;
    this.translator.pools.learnPool({ ...identity, state });
    return this;
  }

  mint(position: Position): this {
    this.#positions.push(position);
    const [amount0, amount1] = amountsOf(position, this.#tick);
    this.#transfer(MAKER, POOL, [amount0, amount1]);
    this.#log("Mint", { sender: MAKER, ...ticksOf(position), amount0, amount1 });
    return this;
  }

  /** Logs a mint whose tokens are already in the balance. */
  mintCounted(position: Position): this {
    const [amount0, amount1] = amountsOf(position, this.#tick);
    this.#log("Mint", { sender: MAKER, ...ticksOf(position), amount0, amount1 });
    return this;
  }

  burn(position: Position): this {
    this.#positions.splice(this.#positions.indexOf(position), 1);
    const [amount0, amount1] = amountsOf(position, this.#tick);
    this.#log("Burn", { ...ticksOf(position), amount0, amount1 });
    return this;
  }

  /** Pays the amounts that a burn at the current price owes. */
  collect(position: Position): this {
    const [amount0, amount1] = amountsOf(position, this.#tick);
    this.#transfer(POOL, MAKER, [amount0, amount1]);
    this.#log("Collect", { ...ticksOf(position), recipient: MAKER, amount0, amount1 });
    return this;
  }

  /** Swaps until the price is at a tick. The taker pays a fee of 0.3 %. */
  swapTo(tick: number): this {
    const before = this.#sum(this.#tick);
    const after = this.#sum(tick);
    this.#tick = tick;
    const [amount0, amount1] = ([0, 1] as const).map((side) => {
      const delta = after[side] - before[side];
      return delta > 0n ? (delta * 1_003n) / 1_000n : delta;
    });
    const amounts = [amount0 ?? 0n, amount1 ?? 0n] as const;
    for (const [index, amount] of amounts.entries()) {
      const one: [bigint, bigint] = [0n, 0n];
      one[index === 0 ? 0 : 1] = amount < 0n ? -amount : amount;
      this.#transfer(amount < 0n ? POOL : MAKER, amount < 0n ? MAKER : POOL, one);
    }
    const range = { sqrtPriceX96: sqrtX96(tick), liquidity: this.#inRange(), tick };
    this.#log("Swap", {
      sender: MAKER,
      recipient: MAKER,
      amount0: amounts[0],
      amount1: amounts[1],
      ...range,
    });
    return this;
  }

  /** Translates the logs since the last call, as one block. */
  mine(): this {
    const block = { number: this.#block, hash: "0x", parentHash: "0x", atMs: this.#block * 1_000 };
    const events = this.translator.translate(this.translator.read({ ...block, logs: this.#logs }));
    for (const event of events) {
      if (event.kind === "listing") this.reports.push(["listing", Math.round(Number(event.liquidity))]);
      if (event.kind === "liquidity") this.reports.push([event.cause, Math.round(Number(event.usd))]);
    }
    this.#logs = [];
    this.#block += 1;
    return this;
  }

  #sum(tick: number): [bigint, bigint] {
    const all = this.#positions.map((position) => amountsOf(position, tick));
    return [all.reduce((sum, [one]) => sum + one, 0n), all.reduce((sum, [, one]) => sum + one, 0n)];
  }

  #inRange(): bigint {
    const inRange = this.#positions.filter(({ lower, upper }) => lower <= this.#tick && this.#tick < upper);
    return inRange.reduce((sum, { liquidity }) => sum + units(liquidity), 0n);
  }

  #transfer(from: string, to: string, amounts: readonly [bigint, bigint]): void {
    this.#log("Transfer", { from, to, units: amounts[this.#dollarIndex] }, DOLLAR.address);
  }

  #log(eventName: (typeof ABI)[number]["name"], values: Record<string, unknown>, address = POOL): void {
    const args: Record<string, unknown> = { owner: MAKER, ...values };
    const { topics, data } = encodeEvent(ABI, eventName, args);
    const logIndex = this.#logs.length;
    this.#logs.push({ address, topics, data, logIndex, transactionHash: "0x01", origin: MAKER });
  }
}

function units(whole: number): bigint {
  return BigInt(Math.round(whole * 1e6)) * 10n ** 12n;
}

function sqrtX96(tick: number): bigint {
  return BigInt(Math.round(1.0001 ** (tick / 2) * 2 ** 48)) << 48n;
}

/** Returns a position's amounts at a price (Uniswap v3 whitepaper, 6.29 and 6.30). */
function amountsOf({ lower, upper, liquidity }: Position, tick: number): [bigint, bigint] {
  const [low, high] = [1.0001 ** (lower / 2), 1.0001 ** (upper / 2)];
  const now = Math.min(high, Math.max(low, 1.0001 ** (tick / 2)));
  return [units(liquidity * (1 / now - 1 / high)), units(liquidity * (now - low))];
}

function ticksOf({ lower, upper, liquidity }: Position) {
  return { tickLower: lower, tickUpper: upper, amount: units(liquidity) };
}

describe("liquidity of pools with ranges", () => {
  test.each([0, 1] as const)(
    "[depth] dollars out of reach of the price add no liquidity (dollars are token %i)",
    (dollarIndex) => {
      const far = { lower: 20_000, upper: 40_000, liquidity: 1_000_000 };
      const below = { lower: -40_000, upper: -20_000, liquidity: 1_000_000 };
      const dollars = dollarIndex === 1 ? below : far;
      const pool = new ModelPool(dollarIndex).create().mint(WIDE).mint(dollars).burn(dollars).mine();
      expect(pool.reports).toEqual([
        ["listing", 100_000],
        ["add", 100_000],
        ["remove", 100_000],
      ]);
    },
  );

  test("[depth] dollars far from its price do not list a token", () => {
    const pool = new ModelPool().create();
    pool.mint({ lower: -40_000, upper: -20_000, liquidity: 1_000_000 }).mine();
    expect(pool.reports).toEqual([["add", 0]]);
  });

  test.each([0, 1] as const)(
    "[depth] a position in range adds its amounts, and its removal restores the level exactly (dollars are token %i)",
    (dollarIndex) => {
      const inRange = { lower: -6_000, upper: 6_000, liquidity: 50_000 };
      const pool = new ModelPool(dollarIndex).create().mint(WIDE).mine();
      pool.mint(inRange).mine().burn(inRange).collect(inRange).mine();
      // Half of a range from −45 % to +82 % holds 26 % of its virtual reserve.
      expect(pool.reports).toEqual([
        ["listing", 100_000],
        ["add", 125_917],
        ["remove", 100_000],
      ]);
    },
  );

  test("[depth] a range reaches from its lower tick up to, but not including, its upper one", () => {
    const levels = [
      { lower: 0, upper: 60_000, liquidity: 50_000 },
      { lower: -60_000, upper: 0, liquidity: 50_000 },
    ].map((position) => {
      // The pool holds enough dollars, so the liquidity in range decides.
      const idle = { lower: -800_000, upper: -1, liquidity: 1_000_000 };
      const pool = new ModelPool().create().mint(idle).mint(position).mine();
      return pool.reports.at(-1);
    });
    expect(levels).toEqual([
      ["listing", 100_000],
      ["add", 0],
    ]);
  });

  test("[depth] liquidity that is in a pool for one block leaves the previous level", () => {
    const justInTime = { lower: -600, upper: 600, liquidity: 2_000_000 };
    const pool = new ModelPool().create().mint(WIDE).mine();
    pool.mint(justInTime).swapTo(20).swapTo(0).burn(justInTime).collect(justInTime).mine();
    const causes = pool.reports.map(([cause]) => cause);
    expect(causes).toEqual(["listing", "add", "sync", "sync", "remove"]);
    const [before = 0, during = 0, bought = 0, sold = 0, after = 0] = pool.reports.map(([, usd]) => usd);
    expect(during).toBeGreaterThan(2 * before);
    // Trading alone does not account for the rise: it follows the price.
    for (const traded of [bought, sold]) expect(Math.abs(traded / during - 1)).toBeLessThan(0.02);
    expect(after).toBe(before);
  });

  test("[depth] a narrow range counts with its balance, not with its virtual reserve", () => {
    const pool = new ModelPool().create().mint({ lower: -100, upper: 100, liquidity: 1_000_000 }).mine();
    expect(pool.reports).toEqual([["listing", 9_975]]);
  });

  test("[depth] a price that leaves a position's range removes its dollars from the depth", () => {
    const pool = new ModelPool().create().mint({ lower: -2_000, upper: 2_000, liquidity: 50_000 });
    pool.mine().swapTo(2_500).swapTo(0).mine();
    expect(pool.reports.map(([cause]) => cause)).toEqual(["listing", "sync", "sync"]);
    expect(pool.reports[1]).toEqual(["sync", 0]);
    expect(pool.reports[2]?.[1]).toBeGreaterThan(pool.reports[0]?.[1] ?? 0);
  });

  test("[depth] an existing pool is followed from its state on, which includes everything before", () => {
    const late = { lower: -FULL, upper: FULL, liquidity: 10_000 };
    const pool = new ModelPool().learn([WIDE, late], 1_000);
    // The state at the end of this block already includes the position.
    pool.mintCounted(late).mine();
    pool.burn(late).mine();
    expect(pool.reports).toEqual([
      ["add", 120_000],
      ["remove", 100_000],
    ]);
  });

  test("[depth] if only a later state was available, a swap resets the range to its own block", () => {
    const below = { lower: -40_000, upper: -20_000, liquidity: 1_000_000 };
    const pool = new ModelPool().learn([WIDE, below], 2_000);
    pool.swapTo(0).mint({ lower: -FULL, upper: FULL, liquidity: 10_000 }).mine();
    expect(pool.reports).toEqual([
      ["sync", 100_000],
      ["add", 120_000],
    ]);
  });

  test("[depth] while the liquidity in range is unknown, the balance counts until a swap reports it", () => {
    const below = { lower: -40_000, upper: -20_000, liquidity: 100_000 };
    const added = { lower: -FULL, upper: FULL, liquidity: 10_000 };
    const pool = new ModelPool().learn([WIDE, below], 999, false);
    pool.mint(added).mine().swapTo(10).mine();
    // 50,000 and 10,000 dollars in range, and 23,255 out of reach.
    expect(pool.reports).toEqual([
      ["add", 166_510],
      ["sync", 120_060],
    ]);
  });
});
