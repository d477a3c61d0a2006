import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { SECOND_MS } from "../../base/lib/time/time.ts";
import type { EvmBlock } from "./evm-block.ts";
import { pauseAfter } from "./persist.ts";
import type { BlockReader } from "./rpc/block-reader.ts";
import type { EndpointPool } from "./rpc/endpoint-pool.ts";
import { RpcFailure } from "./rpc/rpc-failure.ts";

interface FinalBlocksOptions {
  readonly pool: EndpointPool;
  readonly reader: BlockReader;
  readonly clock: Clock;
  /** Number of the first block. */
  readonly from: number;
  /** Number of the last block. Default: none. */
  readonly to?: number;
  /** Maximum number of concurrent reads while catching up. Default 8. */
  readonly readAhead?: number;
  readonly notify: Notify;
  /** Returns [0, 1). */
  readonly random: () => number;
}

export interface FinalBlock {
  readonly block: EvmBlock;
  /** Whether it replaces a published block with the same number. */
  readonly isReplacement: boolean;
}

const READ_AHEAD = 8;
/**
 * Number of published blocks that are remembered by hash. If the chain changes further back,
 * replacements start at the oldest of them.
 */
const REMEMBERED = 512;
/**
 * Number of attempts that find no child of the last published block, after which replaced blocks
 * are looked for.
 */
const DOUBTS = 3;
/** Consecutive failures after which the operator is notified. */
const NOTIFY_AFTER = 4;
/** Attempts of about a second without the next block or its proof, after which the same. */
const OVERDUE = 15;
/** Minimum pause after a failed attempt to read a block. */
const MIN_PAUSE_MS = 250;

/**
 * Yields the blocks from `from` to `to` as they become final, each exactly once and each the child
 * of the previous one. Waits for endpoints as long as necessary. If the chain replaces final
 * blocks, notifies the operator and marks the replacements.
 */
export function finalBlocks(options: FinalBlocksOptions, signal: AbortSignal): AsyncGenerator<FinalBlock> {
  return new FinalBlockStream(options, signal).blocks();
}

class FinalBlockStream {
  readonly #options: FinalBlocksOptions;
  readonly #signal: AbortSignal;
  readonly #reads = new Map<number, Promise<EvmBlock>>();
  /** Hashes of the last published blocks, by number. */
  readonly #published = new Map<number, string>();
  #next: number;
  #failures = 0;
  #doubts = 0;
  /** Number of attempts in a row that found the block missing or unproved. */
  #pending = 0;

  constructor(options: FinalBlocksOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#next = options.from;
  }

  async *blocks(): AsyncGenerator<FinalBlock> {
    const { to = Number.POSITIVE_INFINITY } = this.#options;
    while (!this.#signal.aborted && this.#next <= to) {
      try {
        const block = await this.#nextBlock();
        if (block) yield this.#publish(block, false);
        else if (this.#doubts >= DOUBTS) yield* this.#replacements();
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!(error instanceof RpcFailure)) throw error;
        if (error.kind === "pending") await this.#waitForProof(error);
        else await this.#waitAfter(error);
      }
    }
  }

  /**
   * Returns the next block; `undefined` if it is not final yet, or no endpoint has a child of the
   * last published block.
   */
  async #nextBlock(): Promise<EvmBlock | undefined> {
    const { pool, reader } = this.#options;
    const number = this.#next;
    this.#readAhead();
    const read = this.#reads.get(number);
    if (!read) {
      await pool.changed(SECOND_MS, this.#signal);
      return undefined;
    }
    this.#reads.delete(number);
    const parentHash = this.#published.get(number - 1);
    if (this.#failures === 0 && this.#doubts === 0) {
      const block = await read;
      if (parentHash === undefined || block.parentHash === parentHash) return block;
    }
    // A read failed, an endpoint lies or follows another branch, or the chain has changed. So ask
    // all endpoints.
    this.#reads.clear();
    const block = await reader.readMostCommon(number, parentHash, this.#signal);
    if (!block) {
      this.#doubts += 1;
      const { clock, random } = this.#options;
      await clock.sleep(pauseAfter(this.#doubts, random), this.#signal);
    }
    return block;
  }

  #readAhead(): void {
    const { pool, reader, readAhead = READ_AHEAD, to = Number.POSITIVE_INFINITY } = this.#options;
    const maxReads = this.#failures > 0 || this.#doubts > 0 ? 1 : readAhead;
    const last = Math.min(this.#next + maxReads - 1, pool.finalHead, to);
    for (let number = this.#next; number <= last; number++) {
      if (this.#reads.has(number)) continue;
      const read = reader.read(number, this.#signal);
      // Handled when the block is next. Until then, an error must not count as unhandled.
      read.catch(() => undefined);
      this.#reads.set(number, read);
    }
  }

  #publish(block: EvmBlock, isReplacement: boolean): FinalBlock {
    this.#published.set(block.number, block.hash);
    for (const number of this.#published.keys()) {
      if (this.#published.size <= REMEMBERED) break;
      this.#published.delete(number);
    }
    if (this.#failures >= NOTIFY_AFTER) this.#options.notify("info", `resuming at block ${block.number}`);
    this.#next = block.number + 1;
    this.#failures = 0;
    this.#doubts = 0;
    this.#pending = 0;
    this.#options.pool.obstacle = undefined;
    return { block, isReplacement };
  }

  /**
   * Yields the blocks that replaced published ones, the oldest first; none if the last published
   * block is still in the chain.
   */
  async *#replacements(): AsyncGenerator<FinalBlock> {
    const { reader, notify } = this.#options;
    const branch: EvmBlock[] = [];
    let number = this.#next - 1;
    for (; this.#published.has(number); number--) {
      const block = await reader.readMostCommon(number, undefined, this.#signal);
      if (!block || block.hash === this.#published.get(number)) break;
      branch.unshift(block);
    }
    const [first] = branch;
    this.#doubts = 0;
    if (!first) return;
    const words = `blocks ${first.number} to ${this.#next - 1} were final but have been replaced`;
    notify("warn", `${words}; published events remain`);
    for (const block of branch) yield this.#publish(block, true);
  }

  /** Tells the operator once why there is no block, and shows it until there is one. */
  #say(words: string, message = words): void {
    this.#options.notify("warn", `no block is available: ${message}`);
    this.#options.pool.obstacle = `no block is available: ${words}`;
  }

  /** Waits for a block that is not proved or confirmed yet. That is not a failure. */
  async #waitForProof({ words }: RpcFailure): Promise<void> {
    this.#pending += 1;
    if (this.#pending === OVERDUE) this.#say(words);
    this.#reads.clear();
    await this.#options.pool.changed(SECOND_MS, this.#signal);
  }

  async #waitAfter(error: RpcFailure): Promise<void> {
    const { clock, pool } = this.#options;
    this.#failures += 1;
    this.#reads.clear();
    if (this.#failures === NOTIFY_AFTER) this.#say(error.words, error.message);
    else if (this.#failures > NOTIFY_AFTER) pool.obstacle = `no block is available: ${error.words}`;
    await clock.sleep(MIN_PAUSE_MS, this.#signal);
    // If a head moves, its endpoint may have recovered.
    await pool.changed(pauseAfter(this.#failures, this.#options.random), this.#signal);
  }
}
