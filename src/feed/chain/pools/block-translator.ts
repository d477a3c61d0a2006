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

/** From how many US dollars on a pool's liquidity is real: below, somebody only tries. */
const LISTING_USD = 1_000;
/** From how many US dollars on the known side a pool between quote tokens says what the other is worth. */
const ANCHOR_USD = 50_000;
/** A token is introduced again after this silence, as whoever reads may have forgotten it. */
const INTRODUCED_FOR_MS = 6 * HOUR_MS;

/** A log that concerns pools, and what it says; transfers are those of quote tokens. */
interface ReadLog {
  readonly log: EvmLog;
  readonly said: PoolLog | Transfer;
}

/** A block's logs that concern pools, in order. */
interface ReadBlock {
  readonly number: number;
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
 * A pool's liquidity is twice the depth of its quote side, in US dollars: the other side is priced
 * by the pool itself, so that a trillion of a maker's own token adds nothing. The depth of a V2 pool
 * is its reserve. Of the V3 forms it is the smaller of two figures, see {@link depthOf}: the virtual
 * reserve of the liquidity in range, which swaps state and mints and burns in range change; and the
 * balance, without what makers took out of their range. The balance follows the quote token's own
 * transfers, because protocol fees leave these pools without a log. While the liquidity in range is
 * not known, because the pool's state could not be asked and no swap has stated it since, the whole
 * balance counts, including ranges out of reach.
 *
 * What a quote token is worth is settled before a block and holds for all of it: see {@link UsdPrices}.
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

  /** The logs that concern pools. Creations that no factory of the network made are left out. */
  read({ number, atMs, logs }: EvmBlock): ReadBlock {
    const read: ReadLog[] = [];
    for (const log of logs) {
      const said = decodeLog(log) ?? (this.pools.isQuote(log.address) ? decodeTransfer(log) : undefined);
      if (said && (said.kind !== "created" || this.pools.isGenuine(said))) read.push({ log, said });
    }
    return { number, atMs, logs: read };
  }

  /** Addresses that speak as pools do, and of which nothing is known. */
  unknownPools({ logs }: ReadBlock): readonly string[] {
    const created = new Set(logs.flatMap(({ said }) => (said.kind === "created" ? [said.pool] : [])));
    const unknown = logs.flatMap(({ log, said }) =>
      said.kind !== "created" &&
      said.kind !== "transfer" &&
      !created.has(log.address) &&
      this.pools.isUnknown(log.address)
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
  translate({ number, atMs, logs }: ReadBlock): MarketEvent[] {
    const events: MarketEvent[] = [];
    this.#usd.settle(atMs);
    for (const [index, { log, said }] of logs.entries()) {
      if (said.kind === "created") {
        this.pools.create(said);
        continue;
      }
      if (said.kind === "transfer") {
        this.#move(log.address, said, number);
        continue;
      }
      const pool = this.pools.find(log.address);
      if (!pool) continue;
      const cause = this.#enter(pool, said, number, () => followerOf(logs, index));
      this.#usd.touch(pool);
      const sides = marketSides(pool);
      if (!sides) continue;
      if (cause) this.#tellLiquidity(events, atMs, pool, sides, cause);
      if (said.kind === "swap") this.#tellTrade(events, atMs, pool, sides, said, log.origin);
    }
    return events;
  }

  /** Takes in a block that was told before, without telling it again. Who reads on may not know its tokens. */
  absorb(block: ReadBlock): void {
    for (const event of this.translate(block))
      if (event.kind === "profile") this.pools.forgetIntroduction(event.token);
  }

  /** A quote token comes into pools, or leaves them. V2 pools tell their reserves themselves. */
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

  /** Brings the pool up to date. Yields why its liquidity changed, if it did. */
  #enter(
    pool: Pool,
    said: Exclude<PoolLog, { kind: "created" }>,
    blockNumber: number,
    follower: () => ReadLog["said"] | undefined,
  ): LiquidityEvent["cause"] | undefined {
    if (said.kind === "sync") return pool.form === "v2" ? enterSync(pool, said, follower()) : undefined;
    // The reserves of a V2 pool were told by the log before.
    if (said.form !== pool.form || said.form === "v2") return undefined;
    if (said.kind === "initialized" || said.kind === "swap") {
      enterRange(pool, said);
      return said.kind === "swap" ? "sync" : undefined;
    }
    if (blockNumber > pool.rangeAtBlock) enterPosition(pool, said);
    if (said.amount0 === 0n && said.amount1 === 0n) return undefined;
    if (said.kind === "mint") return "add";
    if (said.kind === "burn") {
      pool.owed[0] += said.amount0;
      pool.owed[1] += said.amount1;
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
function followerOf(logs: readonly ReadLog[], index: number): ReadLog["said"] | undefined {
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
  follower: ReadLog["said"] | undefined,
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

/**
 * A swap states the whole range. A first price counts only where the range is not known: what was
 * asked is the state after it.
 */
function enterRange(pool: Pool, said: Initialized | Swap): void {
  if (!said.range || (said.kind === "initialized" && pool.range)) return;
  pool.range = said.range;
  pool.rangeAtBlock = -1;
}

/** Liquidity that is added or removed around the present tick changes the liquidity in range. */
function enterPosition(pool: Pool, { kind, position }: MakerMove): void {
  const { range } = pool;
  if (!range || !position || range.tick < position.lower || range.tick >= position.upper) return;
  const { liquidity } = position;
  const after = kind === "mint" ? range.liquidity + liquidity : range.liquidity - liquidity;
  pool.range = { ...range, liquidity: after > 0n ? after : 0n };
}

/** What is collected was owed, or is a maker's share of the fees: only these lay in the pool for traders still. */
function enterCollect(pool: Pool, { amount0, amount1 }: MakerMove): LiquidityEvent["cause"] | undefined {
  const [owed0, owed1] = pool.owed;
  pool.owed = [owed0 > amount0 ? owed0 - amount0 : 0n, owed1 > amount1 ? owed1 - amount1 : 0n];
  return amount0 > owed0 || amount1 > owed1 ? "sync" : undefined;
}
