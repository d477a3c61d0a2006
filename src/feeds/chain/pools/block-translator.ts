import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import { HOUR_MS } from "../../../base/lib/time/time.ts";
import type { MarketEvent } from "../../../base/market/index.ts";
import type { QuoteToken } from "../../quote-tokens.ts";
import type { EvmBlock } from "../evm-block.ts";
import { LockTracker } from "../locks/lock-tracker.ts";
import type { Network } from "../network.ts";
import { decodeLog, decodeTransfer, TRANSFER_TOPIC, type Transfer } from "./decode.ts";
import type { EvmLog } from "./evm-log.ts";
import { formatUnits, powerOfTen, USD_DECIMALS } from "./exact-decimal.ts";
import { FORMS } from "./forms/forms.ts";
import type { Cause, UnknownPool } from "./forms/pool-form.ts";
import type { PoolEvent, PoolLog, Swap } from "./forms/pool-log.ts";
import { LEG_DECIMALS } from "./people.ts";
import { type MarketSides, marketSides, type Pool } from "./pool.ts";
import { PoolRegistry } from "./pool-registry.ts";
import { TransactionSwaps, tradeEvent, withoutSandwiches } from "./transaction-swaps.ts";
import { UsdPrices } from "./usd-prices.ts";

/** Minimum liquidity of a listing, in 10^−18 dollars. A pool with less is a test. */
const MIN_LISTING = 1_000n * powerOfTen(USD_DECIMALS);
/** Minimum dollars on one side of a pool of two quote tokens for it to price the other side. */
const ANCHOR_USD = 50_000;
/** A token's profile is published again after this time, because the reader may have lost it. */
const INTRODUCED_FOR_MS = 6 * HOUR_MS;
/** Maximum number of remembered transactions: more than those with trades in 512 blocks. */
const MAX_TRANSACTIONS = 50_000;

/** A decoded log that concerns pools, or a transfer of a quote token. */
interface ReadLog {
  readonly log: EvmLog;
  readonly decoded: PoolLog | Transfer;
  /** The pool's address or, in a singleton, its id. For a transfer, the token's address. */
  readonly pool: string;
}

/** A block's logs that concern pools, in order. */
export interface ReadBlock {
  readonly number: number;
  readonly atMs: number;
  readonly logs: readonly ReadLog[];
  /** Transfer logs of tokens other than quote tokens, by transaction. */
  readonly transfers: ReadonlyMap<string, readonly EvmLog[]>;
  /** Logs of the chain's lockers, by transaction. */
  readonly lockerLogs: ReadonlyMap<string, readonly EvmLog[]>;
}

/**
 * Translates blocks into market events, in the order of transactions, and at the end who holds the
 * pairs' LP tokens. Does no I/O:
 * {@link unknownPools} and {@link unknownTokens} return what to look up on the chain, and
 * {@link pools} must contain the results before {@link translate}.
 *
 * A pool's liquidity is twice the depth of its quote side, in US dollars. The pool itself prices
 * the other side, so a trillion of a maker's own token would add nothing. The depth of a V2 pool is
 * its reserve. For V3 forms it is the smaller of two figures, see {@link RangeState}. One is the
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
  readonly locks: LockTracker;
  readonly #network: Network;
  readonly #usd: UsdPrices;
  /**
   * Number of trades that were skipped, because they were published before or are in a block that
   * replaces a published one.
   */
  repeated = 0;
  /** Hashes of the transactions whose trades were published. */
  readonly #traded = new BoundedMap<string, true>(MAX_TRANSACTIONS);

  constructor(network: Network) {
    this.#network = network;
    this.#usd = new UsdPrices(network.quotes, ANCHOR_USD);
    this.pools = new PoolRegistry(network, this.#usd);
    this.locks = new LockTracker(network.name);
  }

  /**
   * Decodes the logs that concern pools. Skips logs that their emitter may not send: creations by
   * unknown factories, and events of a singleton's pools from other contracts.
   */
  read({ number, atMs, logs }: EvmBlock): ReadBlock {
    const read: ReadLog[] = [];
    const transfers = new Map<string, EvmLog[]>();
    const lockerLogs = new Map<string, EvmLog[]>();
    for (const log of logs) {
      const decoded = decodeLog(log) ?? (this.pools.isQuote(log.address) ? decodeTransfer(log) : undefined);
      if (decoded && (decoded.kind === "transfer" || this.pools.isGenuine(decoded, log.address)))
        read.push({ log, decoded, pool: poolOf(log, decoded) });
      if (this.locks.isLocker(log.address)) addLog(lockerLogs, log);
      else if (!decoded && log.topics[0] === TRANSFER_TOPIC) addLog(transfers, log);
    }
    return { number, atMs, logs: read, transfers, lockerLogs };
  }

  /** Returns the pools of these logs that must be looked up, without those that the logs create. */
  unknownPools(logs: readonly ReadLog[]): readonly UnknownPool[] {
    const created = new Set(
      logs.flatMap(({ decoded }) => (decoded.kind === "created" ? [decoded.pool] : [])),
    );
    const unknown = new Map<string, UnknownPool>();
    for (const { log, decoded, pool } of logs) {
      if (decoded.kind === "created" || decoded.kind === "transfer") continue;
      if (!created.has(pool) && this.pools.isUnknown(pool))
        unknown.set(pool, { pool, form: decoded.form, emitter: log.address });
    }
    return [...unknown.values()];
  }

  unknownTokens(logs: readonly ReadLog[]): readonly string[] {
    const unknown = logs.flatMap(({ decoded }) =>
      decoded.kind === "created" ? this.pools.unknownTokens(decoded.token0, decoded.token1) : [],
    );
    return [...new Set(unknown)];
  }

  /**
   * Applies the block's logs, and returns its events without sandwiches. A transaction's trades
   * come after its liquidity and listings, but before funds that leave curves. Skips events of
   * unknown pools, and trades of transactions that an earlier block had: after the chain replaced
   * it, any later block can have them again.
   */
  translate(block: ReadBlock, isReplacement = false): MarketEvent[] {
    const { number, atMs, logs, transfers, lockerLogs } = block;
    const events: MarketEvent[] = [];
    this.#usd.settle(atMs);
    let swaps: TransactionSwaps | undefined;
    for (const [index, { log, decoded, pool: key }] of logs.entries()) {
      if (swaps?.hash !== log.transactionHash) {
        if (swaps) this.#close(events, swaps, block, isReplacement);
        swaps = new TransactionSwaps(log);
      }
      if (decoded.kind === "created") {
        this.pools.create(decoded);
        if (this.pools.peek(decoded.pool)?.form === "v2") this.locks.create(decoded.pool);
        continue;
      }
      if (decoded.kind === "transfer") {
        this.#move(log.address, decoded, number, swaps);
        continue;
      }
      swaps.addPool(log.address);
      const pool = this.pools.find(key);
      const sides = pool && marketSides(pool);
      if (!sides && decoded.kind === "swap") swaps.addUnfollowed(log.address);
      if (pool?.form !== decoded.form) continue;
      this.#addDepth(swaps, pool);
      const cause = pool.state.apply(decoded, number, () => followerOf(logs, index));
      this.#usd.touch(pool);
      if (!sides) continue;
      if (decoded.kind === "graduated") swaps.graduated.push(pool);
      else if (cause) this.#emitLiquidity(events, atMs, pool, sides, cause);
      if (cause === "add") swaps.funded.add(sides.token);
      if (decoded.kind === "swap") this.#addSwap(swaps, log.address, pool, sides, decoded);
    }
    if (swaps) this.#close(events, swaps, block, isReplacement);
    for (const hash of new Set([...transfers.keys(), ...lockerLogs.keys()]))
      this.locks.apply(transfers.get(hash) ?? [], lockerLogs.get(hash) ?? [], number, atMs);
    this.#emitLocks(events, atMs);
    return withoutSandwiches(events);
  }

  /**
   * Applies a block that was published before, or replaces one that was, without publishing it. Its
   * tokens are introduced again, because the next reader may not know them. After a replacement,
   * pools' states are unknown.
   */
  absorb(block: ReadBlock, isReplacement = false): void {
    if (isReplacement) this.pools.forgetStates();
    for (const event of this.translate(block, isReplacement)) {
      if (event.kind === "profile") this.pools.forgetIntroduction(event.token);
      if (event.kind === "trade" && isReplacement) this.repeated += 1;
    }
  }

  /**
   * Applies a transfer of a quote token into or out of pools, see {@link PoolState}.
   */
  #move(token: string, { from, to, units }: Transfer, blockNumber: number, swaps: TransactionSwaps): void {
    for (const [address, moved] of [
      [from, -units],
      [to, units],
    ] as const) {
      const pool = this.pools.peek(address);
      if (!pool?.state.transfer) continue;
      this.#addDepth(swaps, pool);
      for (const side of [0, 1] as const) {
        const one = pool.sides[side];
        if (one.kind === "quote" && one.quote.address === token)
          pool.state.transfer(side, moved, blockNumber);
      }
      this.#usd.touch(pool);
    }
  }

  #emitLiquidity(
    events: MarketEvent[],
    at: number,
    pool: Pool,
    { token, quote, quoteIndex }: MarketSides,
    cause: Cause,
  ): void {
    const units = liquidityOf(pool, quoteIndex);
    const side = units === undefined ? undefined : this.#usd.worthOf(quote, units);
    if (side === undefined) return;
    const usd = formatUnits(2n * side, USD_DECIMALS);
    const event = { at, group: this.#network.group, pool: pool.address, token: token.address };
    this.locks.touch(pool.address);
    this.#introduce(events, at, token);
    const isListing = pool.form === "curve" || (!token.isLaunched && 2n * side >= MIN_LISTING);
    if (pool.state.isFresh && isListing) {
      pool.state.isFresh = false;
      events.push({ kind: "listing", ...event, liquidity: usd });
    } else events.push({ kind: "liquidity", ...event, usd, cause });
  }

  /** Publishes who holds the LP tokens of the pairs about which there is news. */
  #emitLocks(events: MarketEvent[], at: number): void {
    for (const { pair, burned, held } of this.locks.news(at)) {
      const pool = this.pools.peek(pair);
      const sides = pool && marketSides(pool);
      const event = { at, group: this.#network.group, pool: pair };
      if (sides)
        events.push({ kind: "locks", ...event, token: sides.token.address, burned, held: [...held] });
    }
  }

  /**
   * Adds the amounts that the pool received and paid. If one is zero, or both flow in the same
   * direction as for a flash loan, there is no trade.
   */
  #addSwap(
    swaps: TransactionSwaps,
    emitter: string,
    { address }: Pool,
    { token, quote, tokenIndex }: MarketSides,
    { amount0, amount1, account }: Swap,
  ): void {
    const [tokens, quotes] = tokenIndex === 0 ? [amount0, amount1] : [amount1, amount0];
    if (tokens === 0n || quotes === 0n || tokens > 0n === quotes > 0n) return;
    const dollars = this.#dollarsOf(quote, quotes < 0n ? -quotes : quotes);
    const named = account === undefined ? {} : { account };
    swaps.add(token, { pool: address, emitter, ...named, tokens: -tokens, dollars });
  }

  #addDepth(swaps: TransactionSwaps, pool: Pool): void {
    const sides = marketSides(pool);
    if (!sides) return;
    const { quote, quoteIndex } = sides;
    swaps.addDepth(pool.address, () => this.#dollarsOf(quote, liquidityOf(pool, quoteIndex) ?? 0n) ?? 0n);
  }

  /** Returns the value of a quote token's units in 10^−36 dollars, if known. */
  #dollarsOf(quote: QuoteToken, units: bigint): bigint | undefined {
    const one = this.#usd.wholeWorth(quote);
    return one && units * one * powerOfTen(LEG_DECIMALS - USD_DECIMALS - quote.decimals);
  }

  /**
   * Publishes a complete transaction's trades, and the removal of funds from curves whose tokens
   * got liquidity in a followed pool. Funds that moved elsewhere are not gone, so they still count.
   */
  #close(
    events: MarketEvent[],
    swaps: TransactionSwaps,
    { atMs: at, transfers }: ReadBlock,
    isReplacement: boolean,
  ): void {
    const isPool = (address: string) => this.pools.peek(address) !== undefined;
    const trades = swaps.trades(transfers.get(swaps.hash) ?? [], isPool);
    const isRepeated = this.#traded.has(swaps.hash);
    if (trades.length > 0 && !isReplacement) this.#traded.set(swaps.hash, true);
    if (isRepeated) this.repeated += trades.length;
    for (const trade of isRepeated ? [] : trades) {
      this.#introduce(events, at, trade.token);
      events.push(tradeEvent(trade, at, this.#network.group));
    }
    for (const curve of swaps.graduated) {
      const sides = marketSides(curve);
      if (sides && swaps.funded.has(sides.token)) this.#emitLiquidity(events, at, curve, sides, "remove");
    }
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

function addLog(logs: Map<string, EvmLog[]>, log: EvmLog): void {
  const own = logs.get(log.transactionHash);
  if (own) own.push(log);
  else logs.set(log.transactionHash, [log]);
}

/** Returns a side's depth or, while that is unknown, everything that traders can take there. */
function liquidityOf({ state }: Pool, side: 0 | 1): bigint | undefined {
  return state.depth(side) ?? state.tradable?.(side);
}

/** Returns a log's pool: its address or, in a singleton, its id, from the data or a topic. */
function poolOf({ address, topics: [, id = ""] }: EvmLog, decoded: PoolLog | Transfer): string {
  if (decoded.kind === "transfer") return address;
  if ("pool" in decoded && decoded.pool !== undefined) return decoded.pool;
  return decoded.kind !== "created" && FORMS[decoded.form].isSingleton ? id : address;
}

/**
 * Returns the pool's next log if it follows at once in the same transaction. A V2 pool reports its
 * reserves first and the reason afterwards.
 */
function followerOf(logs: readonly ReadLog[], index: number): PoolEvent | undefined {
  const here = logs[index]?.log;
  const next = logs[index + 1];
  if (!here || !next || next.log.logIndex !== here.logIndex + 1) return undefined;
  if (next.pool !== logs[index]?.pool || next.log.transactionHash !== here.transactionHash) return undefined;
  return next.decoded.kind === "created" || next.decoded.kind === "transfer" ? undefined : next.decoded;
}
