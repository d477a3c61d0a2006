import { z } from "zod";
import type { Clock } from "../../../lib/time/clock.ts";
import { HOUR_MS } from "../../../lib/time/time.ts";
import { contradictionOf, type EvmBlock, Header, logsOf, Receipts } from "../evm-block.ts";
import type { Endpoint } from "./endpoint.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { countProved } from "./receipts-root.ts";
import { RpcTrouble } from "./rpc-trouble.ts";

/** What a block is read with. */
interface BlockReaderOptions {
  readonly pool: EndpointPool;
  /** How far above a block an endpoint's own head must lie before it is believed that the block stays. */
  readonly finalityBlocks: number;
  readonly clock: Clock;
  readonly onNotice: (sentence: string, isTrouble: boolean) => void;
}

/** So far ahead of this machine's clock a block may be dated. */
const MAX_AHEAD_MS = HOUR_MS;

/** A block, whoever told it, and whether another endpoint has the same one at that height. `undefined`: no other could say. */
interface Testimony {
  readonly block: EvmBlock;
  readonly endpoint: Endpoint;
  readonly seconded: boolean | undefined;
}

/** Reads final blocks that hold what their header promises, and of which endpoints do not contradict each other. */
export class BlockReader {
  readonly #options: BlockReaderOptions;

  constructor(options: BlockReaderOptions) {
    this.#options = options;
  }

  /**
   * The block of that height from whoever has it, and a second opinion on its hash. Rejects with RpcTrouble where nobody has it, or opinions differ; who
   * lied or failed rests then, so another attempt may well succeed.
   */
  async read(number: number, signal: AbortSignal): Promise<EvmBlock> {
    let last = new RpcTrouble("failed", `no endpoint has block ${number}`);
    for (const endpoint of this.#able(number)) {
      const told = await this.#testify(endpoint, number, signal);
      if (told instanceof RpcTrouble) {
        last = told;
        continue;
      }
      if (told.seconded !== false) return told.block;
      throw new RpcTrouble("failed", `endpoints do not agree on block ${number}`);
    }
    throw last;
  }

  /**
   * The block of that height that follows the one of hash `parentHash`, out of what all endpoints tell; the one that most of them tell, where there are
   * several. `undefined`: everybody who answered, somebody at least, has one that does not follow. Rejects with RpcTrouble where it cannot be decided.
   */
  async settle(
    number: number,
    parentHash: string | undefined,
    signal: AbortSignal,
  ): Promise<EvmBlock | undefined> {
    const answers = await Promise.all(
      this.#able(number).map((endpoint) => this.#testify(endpoint, number, signal, false)),
    );
    const told = answers.flatMap((answer) => (answer instanceof RpcTrouble ? [] : [answer]));
    if (told.length === 0) throw new RpcTrouble("failed", `no endpoint has block ${number}`);
    const fitting = told.filter(({ block }) => parentHash === undefined || block.parentHash === parentHash);
    if (fitting.length === 0) return undefined;
    const groups = [...Map.groupBy(fitting, ({ block }) => block.hash).values()].toSorted(
      (a, b) => b.length - a.length,
    );
    const [most = [], next = []] = groups;
    if (most.length === next.length) {
      throw new RpcTrouble("failed", `endpoints do not agree on block ${number}, and there is no majority`);
    }
    for (const { endpoint, block } of told) {
      if (most.some((one) => one.block.hash === block.hash)) endpoint.markSuccess();
      else this.#blame(endpoint, `tells another block ${number} than the others`);
    }
    return most[0]?.block;
  }

  #able(number: number): Endpoint[] {
    return this.#options.pool.able(number + this.#options.finalityBlocks);
  }

  async #testify(
    endpoint: Endpoint,
    number: number,
    signal: AbortSignal,
    withSecond = true,
  ): Promise<Testimony | RpcTrouble> {
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
          `dates block ${number} ${new Date(header.timestamp * 1_000).toISOString()}, which this machine's clock has not reached`,
        );
      if (wrong !== undefined) throw new RpcTrouble("failed", `tells a block ${number} that ${wrong}`);
      const proved = countProved(receipts, header.receiptsRoot);
      if (proved < 0)
        throw new RpcTrouble("failed", `tells logs of block ${number} that are not those of its header`);
      endpoint.markSuccess();
      const { hash, parentHash, timestamp } = header;
      const logs = logsOf(receipts.slice(0, proved));
      const block = { number, hash, parentHash, atMs: timestamp * 1_000, logs };
      return { block, endpoint, seconded: second === undefined ? undefined : second === hash };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RpcTrouble) {
        if (error.kind !== "rate") this.#blame(endpoint, error.message);
        return error;
      }
      const words =
        error instanceof z.ZodError ? `tells no usable block ${number}` : "gives no usable answer";
      this.#blame(endpoint, words);
      return new RpcTrouble("failed", words, undefined, { cause: error });
    }
  }

  /** The hash that another endpoint has at that height. */
  async #second(
    first: Endpoint,
    number: number,
    id: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const other = this.#able(number).find((endpoint) => endpoint !== first);
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
    if (endpoint.strikes === 1) this.#options.onNotice(`${endpoint.name} ${words}`, true);
  }
}
