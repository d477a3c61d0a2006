import type { Cause, Inquiry, PoolState } from "../pool-form.ts";
import type { PoolEvent, PositionMove, PriceRange } from "../pool-log.ts";
import { rangeAfter, ratioOf, virtualReserve } from "../ranges.ts";
import type { PositionSource } from "./manager.ts";
import { MAX_TICK, sqrtPriceAt } from "./ticks.ts";

/*
 * The contents of a singleton's pool of ranges. The manager holds the tokens of all its pools, so a
 * pool has no balance of its own, only positions. They come from the logs and, for a pool that
 * existed before the start, from the chain.
 */

/** Ticks read on either side of the price: down to a sixteenth of it, and up to 16 times it. */
const WINDOW_TICKS = 27_726;
/** Maximum number of a pool's ticks to read, the nearest first. */
const MAX_READ_TICKS = 1_000;
/** Maximum number of a pool's ticks in memory, because anyone can add dust to any pool. */
const MAX_TICKS = 10_000;
const TICKS_PER_WORD = 256;
const Q192 = 1n << 192n;

/** Liquidity that begins at a tick, minus the liquidity that ends there. */
interface TickLiquidity {
  readonly tick: number;
  readonly net: bigint;
  readonly sqrt: bigint;
}

/** The ticks between which positions are known. */
interface Reach {
  readonly lowest: number;
  readonly highest: number;
  /** Whether there are more ticks near the price than are known. */
  readonly isCut: boolean;
}

const EVERYWHERE: Reach = { lowest: -MAX_TICK, highest: MAX_TICK, isCut: false };

/** Price and positions of a pool. */
interface PositionFacts {
  readonly range: PriceRange | undefined;
  /** Net liquidity at each tick that has some; `undefined` if unknown. */
  readonly nets: ReadonlyMap<number, bigint> | undefined;
  /** Positions are known between these ticks only. Default: all positions are known. */
  readonly reach?: Reach;
  /** The block at whose end both were read. −1: the pool was created just now. */
  readonly atBlock: number;
}

/** The positions of makers, and the price. Fees that wait in the manager do not count. */
export class PositionState implements PoolState {
  isFresh: boolean;
  #range: PriceRange | undefined;
  /** In order. */
  #ticks: readonly TickLiquidity[] | undefined;
  readonly #ticksAtBlock: number;
  /** The tick around which positions are known; `undefined` if all are. */
  #readTick: number | undefined;
  #rangeAtBlock: number;
  #reach: Reach;

  constructor({ range, nets, atBlock, reach = EVERYWHERE }: PositionFacts) {
    this.#range = range;
    this.#reach = reach;
    this.#ticks =
      nets &&
      [...nets]
        .map(([tick, net]) => ({ tick, net, sqrt: sqrtPriceAt(tick) }))
        .toSorted((one, other) => one.tick - other.tick);
    this.#ticksAtBlock = atBlock;
    this.#readTick = atBlock < 0 ? undefined : range?.tick;
    this.#rangeAtBlock = atBlock;
    this.isFresh = nets?.size === 0 && range?.liquidity === 0n;
  }

  /** Whether the price has moved halfway to positions that are not known. */
  get isOutdated(): boolean {
    const { tick } = this.#range ?? {};
    if (tick === undefined || this.#readTick === undefined) return false;
    const { lowest, highest } = this.#reach;
    return 2 * tick < this.#readTick + lowest || 2 * tick > this.#readTick + highest;
  }

  apply(event: PoolEvent, blockNumber: number): Cause | undefined {
    if (event.kind === "swap") {
      this.#range = event.range;
      this.#rangeAtBlock = -1;
      return "sync";
    }
    if (event.kind !== "position") return undefined;
    if (blockNumber > this.#ticksAtBlock) this.#move(event);
    const { lower, upper, liquidity } = event;
    if (blockNumber > this.#rangeAtBlock) this.#range &&= rangeAfter(this.#range, lower, upper, liquidity);
    // A maker that collects fees changes nothing.
    if (liquidity === 0n) return undefined;
    return liquidity > 0n ? "add" : "remove";
  }

  /**
   * The smaller of two figures: the positions' tokens on that side of the price, and the virtual
   * reserve of the liquidity in range.
   */
  depth(side: 0 | 1): bigint | undefined {
    if (!this.#range || !this.#ticks) return undefined;
    const near = virtualReserve(this.#range, side);
    const deposits = (side === 0 ? heldAbove : heldBelow)(this.#range, this.#ticks, this.#reach.isCut);
    return near < deposits ? near : deposits;
  }

  ratio(): readonly [bigint, bigint] | undefined {
    return this.#range && ratioOf(this.#range);
  }

  #move({ lower, upper, liquidity }: PositionMove): void {
    if (!this.#ticks || liquidity === 0n) return;
    // Ends of positions beyond the known ticks are ignored, because the liquidity there is unknown.
    const isKnown = (tick: number) => tick >= this.#reach.lowest && tick <= this.#reach.highest;
    if (isKnown(lower)) this.#ticks = moved(this.#ticks, lower, liquidity);
    if (isKnown(upper)) this.#ticks = moved(this.#ticks, upper, -liquidity);
    if (this.#ticks.length > MAX_TICKS) this.#cut(this.#ticks);
  }

  /** Forgets all but MAX_TICKS / 4 ticks on either side of the price. */
  #cut(ticks: readonly TickLiquidity[]): void {
    const { tick = 0 } = this.#range ?? {};
    const above = ticks.findIndex((one) => one.tick > tick);
    const middle = above < 0 ? ticks.length : above;
    const nearest = ticks.slice(Math.max(0, middle - MAX_TICKS / 4), middle + MAX_TICKS / 4);
    this.#ticks = nearest;
    this.#readTick = tick;
    this.#reach = { lowest: nearest[0]?.tick ?? 0, highest: nearest.at(-1)?.tick ?? 0, isCut: true };
  }
}

function moved(ticks: readonly TickLiquidity[], tick: number, added: bigint): readonly TickLiquidity[] {
  const index = ticks.findIndex((one) => one.tick >= tick);
  const at = index < 0 ? ticks.length : index;
  const previous = ticks[at]?.tick === tick ? ticks[at] : undefined;
  const net = (previous?.net ?? 0n) + added;
  const changed = net === 0n ? [] : [{ tick, net, sqrt: previous?.sqrt ?? sqrtPriceAt(tick) }];
  return [...ticks.slice(0, at), ...changed, ...ticks.slice(previous ? at + 1 : at)];
}

/**
 * Returns the amount of token 1 below the price: the sum of L · (√upper − √lower) over the
 * stretches between known ticks. Below the lowest of them, liquidity that was in range all the way
 * from the price counts as if it had no end. Narrow positions do not, because they hold little but
 * could look large. If there are ticks near the price that are not known (`isCut`), nothing counts
 * below the lowest known one.
 */
function heldBelow(range: PriceRange, ticks: readonly TickLiquidity[], isCut: boolean): bigint {
  let sum = 0n;
  let { sqrtPriceX96: upper, liquidity: inRange, liquidity: least } = range;
  for (const one of ticks.toReversed()) {
    if (one.tick > range.tick) continue;
    sum += inRange * (upper - one.sqrt);
    upper = one.sqrt;
    inRange = inRange > one.net ? inRange - one.net : 0n;
    if (inRange < least) least = inRange;
  }
  return (isCut ? sum : sum + least * upper) >> 96n;
}

/**
 * Returns the amount of token 0 above the price, as {@link heldBelow}: the sum of L · (1/√lower −
 * 1/√upper).
 */
function heldAbove(range: PriceRange, ticks: readonly TickLiquidity[], isCut: boolean): bigint {
  if (range.sqrtPriceX96 === 0n) return 0n;
  let sum = 0n;
  let lower = Q192 / range.sqrtPriceX96;
  let { liquidity: inRange, liquidity: least } = range;
  for (const one of ticks) {
    if (one.tick <= range.tick) continue;
    const upper = Q192 / one.sqrt;
    sum += inRange * (lower - upper);
    lower = upper;
    inRange = inRange + one.net > 0n ? inRange + one.net : 0n;
    if (inRange < least) least = inRange;
  }
  return (isCut ? sum : sum + least * lower) >> 96n;
}

/** Reads the price of a pool, and the positions around the price. */
export function* readPositions(
  source: PositionSource,
  tickSpacing: number,
  atBlock: number,
): Inquiry<PositionState> {
  const range = yield* source.range();
  if (!range || tickSpacing < 1) return new PositionState({ range, nets: undefined, atBlock });
  const wordAt = (tick: number) => Math.floor(Math.floor(tick / tickSpacing) / TICKS_PER_WORD);
  const lowest = Math.max(-MAX_TICK, range.tick - WINDOW_TICKS);
  const highest = Math.min(MAX_TICK, range.tick + WINDOW_TICKS);
  const [first, last] = [wordAt(lowest), wordAt(highest)];
  const words = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const bitmaps = yield* source.bitmaps(words);
  const all = words
    .flatMap((word, index) =>
      bitsOf(bitmaps[index] ?? 0n).map((bit) => (word * TICKS_PER_WORD + bit) * tickSpacing),
    )
    .filter((tick) => tick >= lowest && tick <= highest)
    .toSorted((one, other) => Math.abs(one - range.tick) - Math.abs(other - range.tick));
  const ticks = all.slice(0, MAX_READ_TICKS);
  const nets = yield* source.nets(ticks);
  const isKnown = [...bitmaps, ...nets].every((word) => word !== undefined);
  const netByTick = new Map(ticks.map((tick, index) => [tick, nets[index] ?? 0n]));
  const isCut = all.length > ticks.length;
  const reach = isCut
    ? { lowest: Math.min(...ticks), highest: Math.max(...ticks), isCut }
    : { lowest, highest, isCut };
  return new PositionState({ range, nets: isKnown ? netByTick : undefined, atBlock, reach });
}

function bitsOf(word: bigint): readonly number[] {
  return [...word.toString(2)].toReversed().flatMap((digit, bit) => (digit === "1" ? [bit] : []));
}
