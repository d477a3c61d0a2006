import type { Clock } from "../../lib/time/clock.ts";
import { SECOND_MS } from "../../lib/time/time.ts";
import type { EvmBlock } from "./evm-block.ts";
import { pauseAfter } from "./persist.ts";
import type { BlockReader } from "./rpc/block-reader.ts";
import type { EndpointPool } from "./rpc/endpoint-pool.ts";
import { RpcTrouble } from "./rpc/rpc-trouble.ts";

interface FinalBlocksOptions {
  readonly pool: EndpointPool;
  readonly reader: BlockReader;
  readonly finalityBlocks: number;
  readonly clock: Clock;
  /** Number of the first block. */
  readonly from: number;
  readonly onNotice: (sentence: string, isTrouble: boolean) => void;
  /** Returns [0, 1). */
  readonly random: () => number;
}

/** A block, in order. */
export interface FinalBlock {
  readonly block: EvmBlock;
  /** Replaces a published block that was not final after all. */
  readonly isReplacement: boolean;
}

/** Blocks that are read at a time while catching up. */
const READ_AHEAD = 8;
/**
 * Number of published blocks that are remembered by hash. After a deeper change of the chain,
 * reading starts anew.
 */
const REMEMBERED = 512;
/**
 * Attempts in which no endpoint has a successor of the last published block before that block is
 * given up.
 */
const DOUBTS = 3;
/** Failures in a row after which the operator is notified. */
const TOLD_AFTER = 4;
/** Minimum time between two attempts at a block. */
const MIN_PAUSE_MS = 250;

/**
 * Yields the blocks from a number on, once each, each the child of the one before, as they become
 * final. Waits for endpoints as long as necessary. If a chain replaces final blocks, notifies the
 * operator and marks the replacements.
 */
export async function* finalBlocks(
  options: FinalBlocksOptions,
  signal: AbortSignal,
): AsyncGenerator<FinalBlock> {
  yield* new FinalBlockStream(options, signal).blocks();
}

class FinalBlockStream {
  readonly #options: FinalBlocksOptions;
  readonly #signal: AbortSignal;
  readonly #reads = new Map<number, Promise<EvmBlock>>();
  /** Hashes of the last published blocks, by number. */
  readonly #told = new Map<number, string>();
  #next: number;
  #failures = 0;
  #doubts = 0;

  constructor(options: FinalBlocksOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#next = options.from;
  }

  async *blocks(): AsyncGenerator<FinalBlock> {
    while (!this.#signal.aborted) {
      try {
        const block = await this.#follower();
        if (block) yield this.#tell(block, false);
        else if (this.#doubts >= DOUBTS) yield* this.#replaced();
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!(error instanceof RpcTrouble)) throw error;
        await this.#waitAfter(error);
      }
    }
  }

  /** Returns the next block if it is final; `undefined` to check again. */
  async #follower(): Promise<EvmBlock | undefined> {
    const { pool, reader } = this.#options;
    const number = this.#next;
    this.#readAhead();
    const read = this.#reads.get(number);
    if (!read) {
      await pool.changed(SECOND_MS, this.#signal);
      return undefined;
    }
    this.#reads.delete(number);
    const parentHash = this.#told.get(number - 1);
    if (this.#failures === 0 && this.#doubts === 0) {
      const block = await read;
      if (parentHash === undefined || block.parentHash === parentHash) return block;
    }
    // An endpoint lies, is on a branch of its own, or the chain has changed: query all.
    this.#reads.clear();
    const block = await reader.settle(number, parentHash, this.#signal);
    if (!block) {
      this.#doubts += 1;
      const { clock, random } = this.#options;
      await clock.sleep(pauseAfter(this.#doubts, random), this.#signal);
    }
    return block;
  }

  #readAhead(): void {
    const { pool, reader, finalityBlocks } = this.#options;
    const final = pool.head - finalityBlocks;
    const most = this.#failures > 0 || this.#doubts > 0 ? 1 : READ_AHEAD;
    for (let number = this.#next; number < this.#next + most && number <= final; number++) {
      if (this.#reads.has(number)) continue;
      const read = reader.read(number, this.#signal);
      // Its failure is handled in its turn, or not at all.
      read.catch(() => undefined);
      this.#reads.set(number, read);
    }
  }

  #tell(block: EvmBlock, isReplacement: boolean): FinalBlock {
    this.#told.set(block.number, block.hash);
    for (const number of this.#told.keys()) {
      if (this.#told.size <= REMEMBERED) break;
      this.#told.delete(number);
    }
    if (this.#failures >= TOLD_AFTER)
      this.#options.onNotice(`blocks come again, from ${block.number} on`, false);
    this.#next = block.number + 1;
    this.#failures = 0;
    this.#doubts = 0;
    return { block, isReplacement };
  }

  /**
   * Handles a chain that continues from another block than the last published one: goes back to the
   * common block and continues from there.
   */
  async *#replaced(): AsyncGenerator<FinalBlock> {
    const { reader, onNotice } = this.#options;
    const branch: EvmBlock[] = [];
    let number = this.#next - 1;
    for (; this.#told.has(number); number--) {
      const block = await reader.settle(number, undefined, this.#signal);
      if (!block || block.hash === this.#told.get(number)) break;
      branch.unshift(block);
    }
    const [first] = branch;
    this.#doubts = 0;
    if (!first) return;
    const words = `blocks ${first.number} to ${this.#next - 1} counted as final and were replaced`;
    onNotice(`${words}; their published events stay`, true);
    for (const block of branch) yield this.#tell(block, true);
  }

  async #waitAfter(error: RpcTrouble): Promise<void> {
    const { clock, pool } = this.#options;
    this.#failures += 1;
    this.#reads.clear();
    if (this.#failures === TOLD_AFTER)
      this.#options.onNotice(`no block is available: ${error.message}`, true);
    await clock.sleep(MIN_PAUSE_MS, this.#signal);
    // A moving head may be that of an endpoint that came back.
    await pool.changed(pauseAfter(this.#failures, this.#options.random), this.#signal);
  }
}
