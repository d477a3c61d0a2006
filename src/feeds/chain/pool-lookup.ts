import type { Clock } from "../../base/lib/time/clock.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import { inBatches } from "./batches.ts";
import type { FinalBlock } from "./final-blocks.ts";
import type { BlockTranslator, ReadBlock } from "./pools/block-translator.ts";
import type { ContractReader } from "./rpc/contract-reader.ts";
import type { EndpointPool } from "./rpc/endpoint-pool.ts";

interface PoolLookupOptions {
  readonly pool: EndpointPool;
  readonly contracts: ContractReader;
  readonly translator: BlockTranslator;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Repeats the work while endpoints fail. */
  readonly persist: <T>(work: () => Promise<T>) => Promise<T>;
}

/** A final block and its logs that concern pools. */
export interface ReadFinalBlock extends FinalBlock {
  readonly read: ReadBlock;
}

/** Maximum number of blocks whose pools are looked up together. */
const MAX_BLOCKS = 200;
/** Number of their logs, of any kind, at which no more blocks are added, to bound memory. */
const MAX_LOGS = 20_000;
/** Blocks that arrive within this time of each other are collected. */
const GAP_MS = 250;
/** Older states are not requested, because full nodes store only the last 128 blocks' states. */
const STATE_BLOCKS = 100;
/** Contracts that endpoints disagree about are looked up again at this interval, when needed. */
const RETRY_MS = 10 * MINUTE_MS;

/** Looks up the pools and tokens of blocks that the translator does not know yet. */
export class PoolLookup {
  readonly #options: PoolLookupOptions;
  #retryAtMs = 0;

  constructor(options: PoolLookupOptions) {
    this.#options = options;
  }

  /** Learns the pools between quote tokens, with their states at the end of a block. */
  async learnAnchors(atBlock: number): Promise<void> {
    const { contracts, translator, signal, persist } = this.#options;
    const facts = await persist(async () => {
      const identities = await contracts.identify(await contracts.anchors(signal), signal);
      return contracts.readStates(identities, this.#stateBlocks(atBlock), signal);
    });
    for (const pool of facts) translator.pools.learnPool(pool);
  }

  /**
   * Learns the pools and tokens of consecutive blocks, with the pools' states before the first one.
   * Dismisses pools that do not matter.
   */
  async learn(blocks: readonly ReadBlock[]): Promise<void> {
    const { contracts, translator, clock, signal, persist } = this.#options;
    const { pools } = translator;
    if (clock.monotonic() >= this.#retryAtMs) {
      this.#retryAtMs = clock.monotonic() + RETRY_MS;
      pools.forgetUndecided();
    }
    const logs = blocks.flatMap((block) => block.logs);
    const unknown = translator.unknownPools(logs);
    const created = translator.unknownTokens(logs);
    if (unknown.length === 0 && created.length === 0) return;
    const atBlock = (blocks[0]?.number ?? 0) - 1;
    const { states, tokens, facts, holders } = await persist(async () => {
      const identities = await contracts.identify(unknown, signal);
      const needed = identities.flatMap(({ token0, token1 }) => pools.unknownTokens(token0, token1));
      const tokens = [...new Set([...needed, ...created])];
      const blocks = this.#stateBlocks(atBlock);
      const pairs = identities.flatMap(({ pool, form }) => (form === "v2" ? [pool] : []));
      const [states, facts, holders] = await Promise.all([
        contracts.readStates(identities, blocks, signal),
        contracts.tokens(tokens, signal),
        contracts.lpBalances(pairs, translator.locks.accounts, blocks, signal),
      ]);
      return { states, tokens, facts, holders };
    });
    const byAddress = new Map(facts.map((token) => [token.address, token]));
    for (const token of tokens) {
      pools.learnToken(token, byAddress.get(token));
      if (contracts.isUndecided("token", token)) pools.markUndecided(token);
    }
    for (const pool of states) pools.learnPool(pool);
    for (const pair of holders) translator.locks.learn(pair);
    for (const { pool } of unknown) {
      if (!pools.isUnknown(pool)) continue;
      pools.dismiss(pool);
      if (contracts.isUndecided("pool", pool)) pools.markUndecided(pool);
    }
  }

  /**
   * Yields blocks in order, once their pools are known. Continues to read meanwhile, so that one
   * look-up serves many blocks while the feed catches up.
   */
  async *known(blocks: AsyncIterable<FinalBlock>, gapMs = GAP_MS): AsyncGenerator<ReadFinalBlock> {
    const { pool, translator, clock, signal } = this.#options;
    const batches = inBatches(readAll(blocks, translator), {
      isFull: (batch) => batch.length >= MAX_BLOCKS || logsOf(batch) >= MAX_LOGS,
      mayGrow: (batch) => (batch.at(-1)?.block.number ?? 0) < pool.finalHead,
      gapMs,
      clock,
      signal,
    });
    for await (const batch of batches) {
      await this.learn(batch.map(({ read }) => read));
      yield* batch;
    }
  }

  /**
   * Returns the block at which to read a pool's state, and `latest`, a final block to read instead
   * if nodes have pruned that state. Both are `latest` if the given block is too old.
   */
  #stateBlocks(atBlock: number): { readonly atBlock: number; readonly latest: number } {
    // Use the lowest sufficient head. An endpoint that claims more may lie, and one that claims
    // less is behind.
    const head = this.#options.pool.finalHeads.findLast((final) => final >= atBlock) ?? 0;
    const latest = Math.max(0, atBlock, head);
    return { atBlock: latest - atBlock > STATE_BLOCKS ? latest : Math.max(0, atBlock), latest };
  }
}

async function* readAll(
  blocks: AsyncIterable<FinalBlock>,
  translator: BlockTranslator,
): AsyncGenerator<ReadFinalBlock> {
  for await (const final of blocks) yield { ...final, read: translator.read(final.block) };
}

function logsOf(batch: readonly ReadFinalBlock[]): number {
  return batch.reduce((sum, { block }) => sum + block.logs.length, 0);
}
