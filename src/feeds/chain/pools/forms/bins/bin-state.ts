import type { Call, Cause, Inquiry, PoolState } from "../pool-form.ts";
import type { BinAmounts, PoolEvent } from "../pool-log.ts";

/*
 * The amounts in a pool of bins. Each bin has one price. Bins below the active one hold only token
 * 1, those above it only token 0.
 */

/** Number of bins on either side of the active one that are read and count as near the price. */
export const NEAR_BINS = 64;
/** The bin with this id has the price one. */
const MIDDLE_ID = 2 ** 23;
const BASIS = 10_000n;
const BITS = 128n;
const ONE = 1n << BITS;

interface BinFacts {
  /** Basis points between the prices of neighboring bins. */
  readonly step: number;
  readonly activeId: number | undefined;
  /** Amounts of each known bin; `undefined` if they could not be read. */
  readonly bins: readonly BinAmounts[] | undefined;
  /** The block at whose end both were read. −1: the pool was created just now. */
  readonly atBlock: number;
}

export class BinState implements PoolState {
  isFresh: boolean;
  readonly #step: number;
  readonly #atBlock: number;
  readonly #readId: number | undefined;
  readonly #bins: Map<number, [bigint, bigint]> | undefined;
  #activeId: number | undefined;
  #isActiveKnown: boolean;

  constructor({ step, activeId, bins, atBlock }: BinFacts) {
    this.#step = step;
    this.#atBlock = atBlock;
    this.#activeId = activeId;
    this.#isActiveKnown = activeId !== undefined;
    // A pool that was created just now has no other bins than its logs report.
    this.#readId = atBlock < 0 ? undefined : activeId;
    this.#bins = bins && new Map(bins.map(({ id, amounts: [first, second] }) => [id, [first, second]]));
    this.isFresh = bins?.every(({ amounts }) => amounts.every((units) => units === 0n)) ?? false;
  }

  /** Whether the price has moved halfway to bins that were never read. */
  get isOutdated(): boolean {
    const moved = Math.abs((this.#activeId ?? 0) - (this.#readId ?? this.#activeId ?? 0));
    return moved > NEAR_BINS / 2;
  }

  apply(event: PoolEvent, blockNumber: number): Cause | undefined {
    if (event.kind === "swap" && event.bin) {
      if (blockNumber > this.#atBlock) this.#swap(event.bin);
      this.#activeId = event.bin.id;
      this.#isActiveKnown = true;
      return "sync";
    }
    if (event.kind !== "bins") return undefined;
    if (blockNumber > this.#atBlock) for (const change of event.changes) this.#change(change);
    if (!this.#isActiveKnown) this.#activeId = this.#inferActive();
    return event.isAdded ? "add" : "remove";
  }

  depth(side: 0 | 1): bigint | undefined {
    if (!this.#bins || this.#activeId === undefined) return undefined;
    let sum = 0n;
    const direction = side === 0 ? 1 : -1;
    for (let bin = 0; bin <= NEAR_BINS; bin++)
      sum += this.#bins.get(this.#activeId + direction * bin)?.[side] ?? 0n;
    return sum;
  }

  ratio(): readonly [bigint, bigint] | undefined {
    if (this.#activeId === undefined) return undefined;
    const exponent = this.#activeId - MIDDLE_ID;
    const factor = powerOf(ONE + (BigInt(this.#step) * ONE) / BASIS, Math.abs(exponent));
    return exponent < 0 ? [ONE, factor] : [factor, ONE];
  }

  #change({ id, amounts }: BinAmounts): void {
    const bin = this.#bins?.get(id) ?? [0n, 0n];
    for (const side of [0, 1] as const) {
      const after = bin[side] + amounts[side];
      bin[side] = after > 0n ? after : 0n;
    }
    this.#bins?.set(id, bin);
  }

  /**
   * Applies a swap that ends in the bin `id`. The bins that it passes lose all tokens of the side
   * that it takes. The whole payment counts in the last bin.
   */
  #swap({ id, amounts }: BinAmounts): void {
    const side = amounts[0] < 0n ? 0 : 1;
    const left = this.#activeId ?? id;
    const rest: [bigint, bigint] = [...amounts];
    // Visit only the known bins: a swap can pass millions of empty ones at no cost.
    for (const [passed, bin] of (id !== left && this.#bins) || []) {
      const isPassed = id < left ? passed > id && passed <= left : passed >= left && passed < id;
      if (!isPassed) continue;
      rest[side] += bin[side];
      bin[side] = 0n;
    }
    this.#change({ id, amounts: rest });
  }

  /** Infers the active bin of a new pair from its filled bins, before a swap reports it. */
  #inferActive(): number | undefined {
    const filled = (side: 0 | 1) =>
      [...(this.#bins ?? [])].flatMap(([id, amounts]) => (amounts[side] > 0n ? [id] : []));
    const below = filled(1);
    if (below.length > 0) return Math.max(...below);
    const above = filled(0);
    return above.length > 0 ? Math.min(...above) : undefined;
  }
}

/** Raises a fixed-point factor with 128 fractional bits to a power. */
function powerOf(factor: bigint, exponent: number): bigint {
  let power = ONE;
  let square = factor;
  for (let rest = exponent; rest > 0; rest >>>= 1) {
    if (rest & 1) power = (power * square) >> BITS;
    square = (square * square) >> BITS;
  }
  return power;
}

/** Reads the bins around the active one. `callOf` returns the call that reads a bin. */
export function* readBins(
  step: number,
  activeId: number | undefined,
  atBlock: number,
  callOf: (id: number) => Call,
): Inquiry<BinState> {
  if (activeId === undefined) return new BinState({ step, activeId, bins: undefined, atBlock });
  const first = Math.max(0, activeId - NEAR_BINS);
  const ids = Array.from({ length: 2 * NEAR_BINS + 1 }, (_, index) => first + index);
  const results = yield ids.map(callOf);
  const bins = ids.flatMap((id, index): readonly BinAmounts[] => {
    const result = results[index];
    const [amount0, amount1]: readonly unknown[] = Array.isArray(result) ? result : [];
    return typeof amount0 === "bigint" && typeof amount1 === "bigint"
      ? [{ id, amounts: [amount0, amount1] }]
      : [];
  });
  return new BinState({ step, activeId, bins: bins.length === ids.length ? bins : undefined, atBlock });
}
