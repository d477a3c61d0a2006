import { z } from "zod";
import type { Notify } from "../../../lib/notify.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { HOUR_MS } from "../../../lib/time/time.ts";
import { contradictionOf, type EvmBlock, Header, logsOf, Receipts } from "../evm-block.ts";
import type { Endpoint } from "./endpoint.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { countProved } from "./receipts-root.ts";
import { RpcTrouble } from "./rpc-trouble.ts";

interface BlockReaderOptions {
  readonly pool: EndpointPool;
  readonly clock: Clock;
  readonly notify: Notify;
}

/** Bound on a block's time ahead of this machine's clock. */
const MAX_AHEAD_MS = HOUR_MS;

/**
 * A valid block from one endpoint. `confirmed`: whether another endpoint has the same block at that
 * height; `undefined` if none responded.
 */
interface VerifiedBlock {
  readonly block: EvmBlock;
  readonly endpoint: Endpoint;
  readonly confirmed: boolean | undefined;
}

/** Reads final blocks that match their headers and on which endpoints agree. */
export class BlockReader {
  readonly #options: BlockReaderOptions;

  constructor(options: BlockReaderOptions) {
    this.#options = options;
  }

  /**
   * Returns the block at that height from the best endpoint, with its hash confirmed by another.
   * Rejects with RpcTrouble if none has it or they disagree. An endpoint that lied or failed then
   * rests, so that another attempt may succeed.
   */
  async read(number: number, signal: AbortSignal): Promise<EvmBlock> {
    let last = new RpcTrouble("failed", `no endpoint has block ${number}`);
    for (const endpoint of this.#options.pool.usable(number)) {
      const answer = await this.#readFrom(endpoint, number, signal);
      if (answer instanceof RpcTrouble) {
        last = answer;
        continue;
      }
      if (answer.confirmed !== false) return answer.block;
      throw new RpcTrouble("failed", `endpoints disagree on block ${number}`);
    }
    throw last;
  }

  /**
   * Queries all endpoints for the block at that height whose parent is `parentHash`, and returns
   * the one that most of them have. `undefined`: at least one endpoint responded, and no response
   * has that parent. Rejects with RpcTrouble if there is no majority.
   */
  async settle(
    number: number,
    parentHash: string | undefined,
    signal: AbortSignal,
  ): Promise<EvmBlock | undefined> {
    const answers = await Promise.all(
      this.#options.pool.usable(number).map((endpoint) => this.#readFrom(endpoint, number, signal, false)),
    );
    const blocks = answers.flatMap((answer) => (answer instanceof RpcTrouble ? [] : [answer]));
    if (blocks.length === 0) throw new RpcTrouble("failed", `no endpoint has block ${number}`);
    const fitting = blocks.filter(({ block }) => parentHash === undefined || block.parentHash === parentHash);
    if (fitting.length === 0) return undefined;
    const groups = [...Map.groupBy(fitting, ({ block }) => block.hash).values()].toSorted(
      (a, b) => b.length - a.length,
    );
    const [largest = [], next = []] = groups;
    if (largest.length === next.length) {
      throw new RpcTrouble("failed", `endpoints disagree on block ${number}, without a majority`);
    }
    for (const { endpoint, block } of blocks) {
      if (largest.some((one) => one.block.hash === block.hash)) endpoint.markSuccess();
      else this.#blame(endpoint, `returned another block ${number} than the others`);
    }
    return largest[0]?.block;
  }

  async #readFrom(
    endpoint: Endpoint,
    number: number,
    signal: AbortSignal,
    withSecond = true,
  ): Promise<VerifiedBlock | RpcTrouble> {
    try {
      const id = `0x${number.toString(16)}`;
      const [header, receipts, second] = await Promise.all([
        endpoint.ask("eth_getBlockByNumber", [id, false], signal).then((answer) => Header.parse(answer)),
        endpoint.ask("eth_getBlockReceipts", [id], signal).then((answer) => Receipts.parse(answer)),
        withSecond ? this.#second(endpoint, number, id, signal) : undefined,
      ]);
      const wrong =
        header.number === number ? contradictionOf(header, receipts) : `is number ${header.number}`;
      if (header.timestamp * 1_000 > this.#options.clock.now() + MAX_AHEAD_MS)
        throw new RpcTrouble(
          "failed",
          `returned block ${number} with a future time, ${new Date(header.timestamp * 1_000).toISOString()}; check this machine's clock`,
        );
      if (wrong !== undefined) throw new RpcTrouble("failed", `returned a block ${number} that ${wrong}`);
      const proved = countProved(receipts, header.receiptsRoot);
      if (proved < 0)
        throw new RpcTrouble("failed", `returned logs of block ${number} that do not match its header`);
      endpoint.markSuccess();
      const { hash, parentHash, timestamp } = header;
      const logs = logsOf(receipts.slice(0, proved));
      const block = { number, hash, parentHash, atMs: timestamp * 1_000, logs };
      return { block, endpoint, confirmed: second === undefined ? undefined : second === hash };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RpcTrouble) {
        if (error.kind !== "rate") this.#blame(endpoint, error.message);
        return error;
      }
      const words =
        error instanceof z.ZodError ? `returned an invalid block ${number}` : "returned no valid response";
      this.#blame(endpoint, words);
      return new RpcTrouble("failed", words, undefined, { cause: error });
    }
  }

  /** Returns the hash of another endpoint's block at that height. */
  async #second(
    first: Endpoint,
    number: number,
    id: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const other = this.#options.pool.usable(number).find((endpoint) => endpoint !== first);
    try {
      const answer = await other?.ask("eth_getBlockByNumber", [id, false], signal);
      return answer === undefined ? undefined : Header.parse(answer).hash;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RpcTrouble && error.kind === "rate")) other?.markFailure();
      return undefined;
    }
  }

  #blame(endpoint: Endpoint, words: string): void {
    endpoint.markFailure();
    if (endpoint.strikes === 1) this.#options.notify("warn", `${endpoint.name} ${words}`);
  }
}
