import { HOUR_MS } from "../../lib/time.ts";
import type { LiquidityEvent, MarketEvent } from "../../market/index.ts";
import { decodeLog, type MakerMove, type PoolLog, type Swap, type Sync } from "./decode.ts";
import type { EvmBlock } from "./evm-block.ts";
import type { EvmLog } from "./evm-log.ts";
import { formatRatio, formatUnits, powerOfTen, USD_DECIMALS } from "./exact-decimal.ts";
import type { Network } from "./network.ts";
import { type MarketSides, marketSides, type Pool } from "./pool.ts";
import { PoolBook } from "./pool-book.ts";
import { UsdBook } from "./usd-book.ts";

/** From how many US dollars on a pool's liquidity is real: below, somebody only tries. */
export const LISTING_USD = 1_000;
/** From how many US dollars on the known side a pool between quote tokens says what the other is worth. */
export const ANCHOR_USD = 50_000;
/** A token is introduced again after this silence, as whoever reads may have forgotten it. */
const INTRODUCED_FOR_MS = 6 * HOUR_MS;

/** A log that concerns a pool, and what it says. */
export interface ReadLog {
  readonly log: EvmLog;
  readonly said: PoolLog;
}

/** A block's logs that concern pools, in order. */
export interface ReadBlock {
  readonly atMs: number;
  readonly logs: readonly ReadLog[];
}

/** Bounds of {@link BlockTranslator}, in US dollars. */
export interface TranslatorBounds {
  /** Default {@link LISTING_USD}. */
  readonly listingUsd?: number;
  /** Default {@link ANCHOR_USD}. */
  readonly anchorUsd?: number;
}

/**
 * Blocks in, market events out, in the order of the logs. Pure: what has to be asked of the chain is told by {@link unknownPools} and {@link unknownTokens},
 * and has to be in {@link pools} before {@link translate}.
 *
 * A pool's liquidity is twice what lies on its quote side, in US dollars: the other side is priced by the pool itself, so that who brings a
 * trillion of their own token brings nothing. Of the V3 forms that is what lies in all ranges, uncollected fees included, what makers took out
 * of their range not.
 */
export class BlockTranslator {
  readonly pools: PoolBook;
  readonly #network: Network;
  readonly #usd: UsdBook;
  readonly #listingUsd: bigint;

  constructor(network: Network, { listingUsd = LISTING_USD, anchorUsd = ANCHOR_USD }: TranslatorBounds = {}) {
    this.#network = network;
    this.#usd = new UsdBook(network.quotes, anchorUsd);
    this.pools = new PoolBook(network, this.#usd);
    this.#listingUsd = BigInt(Math.round(listingUsd)) * powerOfTen(USD_DECIMALS);
  }

  /** The logs that concern pools. Creations that no factory of the network made are left out. */
  read({ atMs, logs }: EvmBlock): ReadBlock {
    const read: ReadLog[] = [];
    for (const log of logs) {
      const said = decodeLog(log);
      if (said && (said.kind !== "created" || this.pools.isGenuine(said))) read.push({ log, said });
    }
    return { atMs, logs: read };
  }

  /** Addresses that speak as pools do, and of which nothing is known. */
  unknownPools({ logs }: ReadBlock): readonly string[] {
    const created = new Set(logs.flatMap(({ said }) => (said.kind === "created" ? [said.pool] : [])));
    const unknown = logs.flatMap(({ log, said }) =>
      said.kind !== "created" && !created.has(log.address) && this.pools.isUnknown(log.address)
        ? [log.address]
        : [],
    );
    return [...new Set(unknown)];
  }

  /** Tokens of pools that are created here, and of which nothing is known. */
  unknownTokens({ logs }: ReadBlock): readonly string[] {
    const unknown = logs.flatMap(({ said }) =>
      said.kind === "created" ? this.pools.unknownTokens(said.token0, said.token1) : [],
    );
    return [...new Set(unknown)];
  }

  /** What happened, in order. What happens to pools that are not known is passed over. */
  translate({ atMs, logs }: ReadBlock): MarketEvent[] {
    const events: MarketEvent[] = [];
    for (const [index, { log, said }] of logs.entries()) {
      if (said.kind === "created") {
        this.pools.create(said);
        continue;
      }
      const pool = this.pools.find(log.address);
      if (!pool) continue;
      const cause = this.#enter(pool, said, () => followerOf(logs, index));
      this.#usd.touch(pool);
      const sides = marketSides(pool);
      if (!sides) continue;
      if (cause) this.#tellLiquidity(events, atMs, pool, sides, cause);
      if (said.kind === "swap") this.#tellTrade(events, atMs, pool, sides, said, log.origin);
    }
    return events;
  }

  /** Brings the pool up to date. Yields why its liquidity changed, if it did. */
  #enter(
    pool: Pool,
    said: Exclude<PoolLog, { kind: "created" }>,
    follower: () => PoolLog | undefined,
  ): LiquidityEvent["cause"] | undefined {
    if (said.kind === "sync") return pool.form === "v2" ? enterSync(pool, said, follower()) : undefined;
    // The reserves of a V2 pool were told by the log before.
    if (said.form !== pool.form || said.form === "v2") return undefined;
    if (said.kind === "swap") {
      pool.sqrtPriceX96 = said.sqrtPriceX96 ?? pool.sqrtPriceX96;
      move(pool, said.amount0, said.amount1);
      return "sync";
    }
    if (said.amount0 === 0n && said.amount1 === 0n) return undefined;
    if (said.kind === "mint") {
      move(pool, said.amount0, said.amount1);
      return "add";
    }
    if (said.kind === "burn") {
      pool.owed[0] += said.amount0;
      pool.owed[1] += said.amount1;
      move(pool, -said.amount0, -said.amount1);
      return "remove";
    }
    return enterCollect(pool, said);
  }

  #tellLiquidity(
    events: MarketEvent[],
    at: number,
    pool: Pool,
    { token, quote, quoteIndex }: MarketSides,
    cause: LiquidityEvent["cause"],
  ): void {
    const side = pool.isCounted ? this.#usd.worthOf(quote, pool.balances[quoteIndex]) : undefined;
    if (side === undefined) return;
    const usd = formatUnits(2n * side, USD_DECIMALS);
    const event = { at, group: this.#network.group, pool: pool.address, token: token.address };
    this.#introduce(events, at, token);
    if (pool.isFresh && 2n * side >= this.#listingUsd) {
      pool.isFresh = false;
      events.push({ kind: "listing", ...event, liquidity: usd });
    } else events.push({ kind: "liquidity", ...event, usd, cause });
  }

  /** A trade at what the pool really took and gave. What goes in or out on both sides, as at a flash loan, is none. */
  #tellTrade(
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
    if (at - token.toldAtMs < INTRODUCED_FOR_MS) return;
    token.toldAtMs = at;
    const { address, symbol, name } = token;
    if (symbol === undefined && name === undefined) return;
    const words = { ...(symbol === undefined ? {} : { symbol }), ...(name === undefined ? {} : { name }) };
    events.push({ kind: "profile", at, group: this.#network.group, token: address, ...words });
  }
}

/** What the pool says next in the same transaction, directly behind: a V2 pool tells its reserves first, and then why they are such. */
function followerOf(logs: readonly ReadLog[], index: number): PoolLog | undefined {
  const here = logs[index]?.log;
  const next = logs[index + 1];
  if (!here || !next || next.log.logIndex !== here.logIndex + 1) return undefined;
  return next.log.address === here.address && next.log.transactionHash === here.transactionHash
    ? next.said
    : undefined;
}

function enterSync(
  pool: Pool,
  { reserve0, reserve1 }: Sync,
  follower: PoolLog | undefined,
): LiquidityEvent["cause"] {
  // All that it has, its makers just brought: it was empty, and never will be again, for a V2 pool keeps back a little of its first liquidity.
  if (follower?.kind === "mint" && follower.amount0 === reserve0 && follower.amount1 === reserve1)
    pool.isFresh = true;
  pool.balances[0] = reserve0;
  pool.balances[1] = reserve1;
  pool.isCounted = true;
  if (follower?.kind === "mint") return "add";
  return follower?.kind === "burn" ? "remove" : "sync";
}

/** What is collected was owed, or is a maker's share of the fees, which lay in the pool. */
function enterCollect(pool: Pool, { amount0, amount1 }: MakerMove): LiquidityEvent["cause"] | undefined {
  const [owed0, owed1] = pool.owed;
  const fees0 = amount0 > owed0 ? amount0 - owed0 : 0n;
  const fees1 = amount1 > owed1 ? amount1 - owed1 : 0n;
  pool.owed = [owed0 - (amount0 - fees0), owed1 - (amount1 - fees1)];
  if (fees0 === 0n && fees1 === 0n) return undefined;
  move(pool, -fees0, -fees1);
  return "sync";
}

/** A balance that was not asked at the right moment must not fall below nothing. */
function move(pool: Pool, amount0: bigint, amount1: bigint): void {
  const [first, second] = pool.balances;
  pool.balances[0] = first + amount0 > 0n ? first + amount0 : 0n;
  pool.balances[1] = second + amount1 > 0n ? second + amount1 : 0n;
}
