import type { EvmBlock } from "./evm-block.ts";

/** Number of blocks over which the pace is averaged. */
const BLOCKS = 32;

/**
 * Estimates times of a chain's later blocks from the pace of those before. The pace is a moving
 * average in which one block counts no more than all before, so that a halt of the chain at most
 * doubles it and is soon forgotten.
 */
export class BlockPace {
  #latest: Pick<EvmBlock, "number" | "atMs"> | undefined;
  #msPerBlock = 0;

  /** Takes the chain's next block. */
  follow(block: Pick<EvmBlock, "number" | "atMs">): void {
    const before = this.#latest;
    this.#latest = block;
    if (!before) return;
    const newest = (block.atMs - before.atMs) / Math.max(1, block.number - before.number);
    const bounded = Math.min(newest, this.#msPerBlock * BLOCKS);
    this.#msPerBlock =
      this.#msPerBlock === 0 ? newest : this.#msPerBlock + (bounded - this.#msPerBlock) / BLOCKS;
  }

  /** Estimates the milliseconds from the latest block to a later one; 0 if they are unknown. */
  msTo(number: number): number {
    const blocks = Math.max(0, number - (this.#latest?.number ?? number));
    return Math.round(blocks * this.#msPerBlock);
  }
}
