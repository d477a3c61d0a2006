import { HOUR_MS } from "../../../lib/time/time.ts";
import type { LiquidityEvent, MarketEvent } from "../../../market/index.ts";
import type { EvmBlock } from "../evm-block.ts";
import type { Network } from "../network.ts";
import {
  decodeLog,
  decodeTransfer,
  type Initialized,
  type MakerMove,
  type PoolLog,
  type Swap,
  type Sync,
  type Transfer,
} from "./decode.ts";
import type { EvmLog } from "./evm-log.ts";
import { formatRatio, formatUnits, powerOfTen, USD_DECIMALS } from "./exact-decimal.ts";
import { depthOf, type MarketSides, marketSides, type Pool, tradable } from "./pool.ts";
import { PoolRegistry } from "./pool-registry.ts";
import { UsdPrices } from "./usd-prices.ts";

/** Dollars from which a pool's liquidity is real; less is a test. */
const LISTING_USD = 1_000;
/**
 * Minimum dollars on the known side of a pool between quote tokens for it to price the other one.
 */
const ANCHOR_USD = 50_000;
/** A token is introduced again after this silence, because the reader may have forgotten it. */
const INTRODUCED_FOR_MS = 6 * HOUR_MS;

/** A log that concerns pools, decoded. Transfers are those of quote tokens. */
interface ReadLog {
  readonly log: EvmLog;
  readonly decoded: PoolLog | Transfer;
}

/** A block's logs that concern pools, in order. */
interface ReadBlock {
  readonly number: number;
  readonly atMs: number;
  readonly logs: readonly ReadLog[];
}

/** Thresholds in US dollars. */
export interface TranslatorBounds {
  /** Default {@link LISTING_USD}. */
  readonly listingUsd?: number;
  /** Default {@link ANCHOR_USD}. */
  readonly anchorUsd?: number;
}

/**
 * Translates blocks into market events, in the order of the logs. Pure: {@link unknownPools} and
 * {@link unknownTokens} return what to look up on the chain, and {@link pools} must contain the
 * results before {@link translate}.
 *
 * A pool's liquidity is twice the depth of its quote side, in US dollars. The pool itself prices
 * the other side, so a trillion of a maker's own token would add nothing. The depth of a V2 pool is
 * its reserve. For V3 forms it is the smaller of two figures, see {@link depthOf}. One is the
 * virtual reserve of the liquidity in range, which swaps report and mints and burns in range
 * change. The other is the balance, without amounts that makers have removed from their range. The
 * balance follows the quote token's own transfers, because protocol fees leave these pools without
 * a log. While the liquidity in range is unknown (the pool's state could not be read and there was
 * no swap since), the whole balance counts, including ranges out of reach.
 *
 * A quote token's value is fixed before a block and holds for all of it: see {@link UsdPrices}.
 */
export class BlockTranslator {
  readonly pools: PoolRegistry;
  readonly #network: Network;
  readonly #usd: UsdPrices;
  readonly #listingUsd: bigint;

  constructor(network: Network, { listingUsd = LISTING_USD, anchorUsd = ANCHOR_USD }: TranslatorBounds = {}) {
    this.#network = network;
    this.#usd = new UsdPrices(network.quotes, anchorUsd);
    this.pools = new PoolRegistry(network, this.#usd);
    this.#listingUsd = BigInt(Math.round(listingUsd)) * powerOfTen(USD_DECIMALS);
  }

  /** Decodes the logs that concern pools. Skips creations by other factories. */
  read({ number, atMs, logs }: EvmBlock): ReadBlock {
    const read: ReadLog[] = [];
    for (const log of logs) {
      const decoded = decodeLog(log) ?? (this.pools.isQuote(log.address) ? decodeTransfer(log) : undefined);
      if (decoded && (decoded.kind !== "created" || this.pools.isGenuine(decoded)))
        read.push({ log, decoded });
    }
    return { number, atMs, logs: read };
  }

  /** Returns unknown addresses that emit pool events. */
  unknownPools({ logs }: ReadBlock): readonly string[] {
    const created = new Set(
      logs.flatMap(({ decoded }) => (decoded.kind === "created" ? [decoded.pool] : [])),
    );
    const unknown = logs.flatMap(({ log, decoded }) =>
      decoded.kind !== "created" &&
      decoded.kind !== "transfer" &&
      !created.has(log.address) &&
      this.pools.isUnknown(log.address)
        ? [log.address]
        : [],
    );
    return [...new Set(unknown)];
  }

  /** Returns unknown tokens of pools that the block creates. */
  unknownTokens({ logs }: ReadBlock): readonly string[] {
    const unknown = logs.flatMap(({ decoded }) =>
      decoded.kind === "created" ? this.pools.unknownTokens(decoded.token0, decoded.token1) : [],
    );
    return [...new Set(unknown)];
  }

  /** Returns the block's events, in order. Skips events of unknown pools. */
  translate({ number, atMs, logs }: ReadBlock): MarketEvent[] {
    const events: MarketEvent[] = [];
    this.#usd.settle(atMs);
    for (const [index, { log, decoded }] of logs.entries()) {
      if (decoded.kind === "created") {
        this.pools.create(decoded);
        continue;
      }
      if (decoded.kind === "transfer") {
        this.#move(log.address, decoded, number);
        continue;
      }
      const pool = this.pools.find(log.address);
      if (!pool) continue;
      const cause = this.#enter(pool, decoded, number, () => followerOf(logs, index));
      this.#usd.touch(pool);
      const sides = marketSides(pool);
      if (!sides) continue;
      if (cause) this.#emitLiquidity(events, atMs, pool, sides, cause);
      if (decoded.kind === "swap") this.#emitTrade(events, atMs, pool, sides, decoded, log.origin);
    }
    return events;
  }

  /**
   * Applies a block that was published before, without publishing it again. Its tokens are
   * introduced again, because the next reader may not know them.
   */
  absorb(block: ReadBlock): void {
    for (const event of this.translate(block))
      if (event.kind === "profile") this.pools.forgetIntroduction(event.token);
  }

  /**
   * Applies a transfer of a quote token into or out of pools. V2 pools report their own reserves.
   */
  #move(token: string, { from, to, units }: Transfer, blockNumber: number): void {
    for (const [address, moved] of [
      [from, -units],
      [to, units],
    ] as const) {
      const pool = this.pools.peek(address);
      if (pool?.form !== "v3" || blockNumber <= pool.countedAtBlock) continue;
      for (const side of [0, 1] as const) {
        const one = pool.sides[side];
        if (one.kind === "quote" && one.quote.address === token) pool.balances[side] += moved;
      }
      this.#usd.touch(pool);
    }
  }

  /** Updates the pool. Returns why its liquidity changed, if it did. */
  #enter(
    pool: Pool,
    decoded: Exclude<PoolLog, { kind: "created" }>,
    blockNumber: number,
    follower: () => ReadLog["decoded"] | undefined,
  ): LiquidityEvent["cause"] | undefined {
    if (decoded.kind === "sync") return pool.form === "v2" ? enterSync(pool, decoded, follower()) : undefined;
    // The previous log reported the reserves of a V2 pool.
    if (decoded.form !== pool.form || decoded.form === "v2") return undefined;
    if (decoded.kind === "initialized" || decoded.kind === "swap") {
      enterRange(pool, decoded);
      return decoded.kind === "swap" ? "sync" : undefined;
    }
    if (blockNumber > pool.rangeAtBlock) enterPosition(pool, decoded);
    if (decoded.amount0 === 0n && decoded.amount1 === 0n) return undefined;
    if (decoded.kind === "mint") return "add";
    if (decoded.kind === "burn") {
      pool.owed[0] += decoded.amount0;
      pool.owed[1] += decoded.amount1;
      return "remove";
    }
    return enterCollect(pool, decoded);
  }

  #emitLiquidity(
    events: MarketEvent[],
    at: number,
    pool: Pool,
    { token, quote, quoteIndex }: MarketSides,
    cause: LiquidityEvent["cause"],
  ): void {
    const depth = depthOf(pool, quoteIndex) ?? tradable(pool, quoteIndex);
    const side = pool.isCounted ? this.#usd.worthOf(quote, depth) : undefined;
    if (side === undefined) return;
    const usd = formatUnits(2n * side, USD_DECIMALS);
    const event = { at, group: this.#network.group, pool: pool.address, token: token.address };
    this.#introduce(events, at, token);
    if (pool.isFresh && 2n * side >= this.#listingUsd) {
      pool.isFresh = false;
      events.push({ kind: "listing", ...event, liquidity: usd });
    } else events.push({ kind: "liquidity", ...event, usd, cause });
  }

  /**
   * Emits a trade of what the pool really received and paid. A flow in the same direction on both
   * sides, as for a flash loan, is no trade.
   */
  #emitTrade(
    events: MarketEvent[],
    at: number,
    pool: Pool,
    { token, quote, tokenIndex }: MarketSides,
    { amount0, amount1 }: Swap,
    trader: string,
  ): void {
    const [tokens, quotes] = tokenIndex === 0 ? [amount0, amount1] : [amount1, amount0];
    if (tokens === 0n || quotes === 0n || tokens > 0n === quotes > 0n) return;
    const one = this.#usd.wholeWorth(quote);
    if (one === undefined) return;
    const isBuy = tokens < 0n;
    const amount = isBuy ? -tokens : tokens;
    const paid = isBuy ? quotes : -quotes;
    const dollars = paid * one;
    this.#introduce(events, at, token);
    events.push({
      kind: "trade",
      at,
      group: this.#network.group,
      pool: pool.address,
      token: token.address,
      side: isBuy ? "buy" : "sell",
      price: formatRatio(
        dollars * powerOfTen(token.decimals),
        amount * powerOfTen(quote.decimals + USD_DECIMALS),
      ),
      amount: formatUnits(amount, token.decimals),
      quoteUsd: formatUnits(dollars / powerOfTen(quote.decimals), USD_DECIMALS),
      trader,
    });
  }

  #introduce(events: MarketEvent[], at: number, token: MarketSides["token"]): void {
    if (at - token.introducedAtMs < INTRODUCED_FOR_MS) return;
    token.introducedAtMs = at;
    const { address, symbol, name } = token;
    if (symbol === undefined && name === undefined) return;
    const words = { ...(symbol === undefined ? {} : { symbol }), ...(name === undefined ? {} : { name }) };
    events.push({ kind: "profile", at, group: this.#network.group, token: address, ...words });
  }
}

/**
 * Returns the pool's next log if it directly follows in the same transaction: a V2 pool reports its
 * reserves first and the reason afterwards.
 */
function followerOf(logs: readonly ReadLog[], index: number): ReadLog["decoded"] | undefined {
  const here = logs[index]?.log;
  const next = logs[index + 1];
  if (!here || !next || next.log.logIndex !== here.logIndex + 1) return undefined;
  return next.log.address === here.address && next.log.transactionHash === here.transactionHash
    ? next.decoded
    : undefined;
}

function enterSync(
  pool: Pool,
  { reserve0, reserve1 }: Sync,
  follower: ReadLog["decoded"] | undefined,
): LiquidityEvent["cause"] {
  // The makers just added everything in the pool, so it was empty. That happens once, because a V2
  // pool locks a little of its first liquidity.
  if (follower?.kind === "mint" && follower.amount0 === reserve0 && follower.amount1 === reserve1)
    pool.isFresh = true;
  pool.balances[0] = reserve0;
  pool.balances[1] = reserve1;
  pool.isCounted = true;
  if (follower?.kind === "mint") return "add";
  return follower?.kind === "burn" ? "remove" : "sync";
}

/**
 * Applies a reported price. A swap reports the whole range. An initial price counts only if the
 * range is unknown: a state read from the chain is more recent.
 */
function enterRange(pool: Pool, decoded: Initialized | Swap): void {
  if (!decoded.range || (decoded.kind === "initialized" && pool.range)) return;
  pool.range = decoded.range;
  pool.rangeAtBlock = -1;
}

/**
 * Applies liquidity added or removed around the current tick, which changes the liquidity in range.
 */
function enterPosition(pool: Pool, { kind, position }: MakerMove): void {
  const { range } = pool;
  if (!range || !position || range.tick < position.lower || range.tick >= position.upper) return;
  const { liquidity } = position;
  const after = kind === "mint" ? range.liquidity + liquidity : range.liquidity - liquidity;
  pool.range = { ...range, liquidity: after > 0n ? after : 0n };
}

/** Applies a collection of owed amounts or of a maker's fees; only fees were still available. */
function enterCollect(pool: Pool, { amount0, amount1 }: MakerMove): LiquidityEvent["cause"] | undefined {
  const [owed0, owed1] = pool.owed;
  pool.owed = [owed0 > amount0 ? owed0 - amount0 : 0n, owed1 > amount1 ? owed1 - amount1 : 0n];
  return amount0 > owed0 || amount1 > owed1 ? "sync" : undefined;
}
