import type { Hex } from "ox/Hex";
import type { Clock } from "../../../src/base/lib/time/clock.ts";
import { type Answer, ScriptedNode } from "../../feeds/chain/nodes/scripted-node.ts";
import type { SyntheticChain } from "./synthetic-chain.ts";

/** Maximum requests within {@link LIMIT_MS}. */
const LIMIT = 10_000;
const LIMIT_MS = 5 * 60_000;

/**
 * A public endpoint of a synthetic chain. It responds after 100 to 200 ms, rejects more than 10,000
 * requests in five minutes, and answers calls only at the states that a full node stores.
 */
export class ChainEndpoint implements AsyncDisposable {
  readonly node = new ScriptedNode();
  readonly #chain: SyntheticChain;
  readonly #clock: Clock;
  /** Monotonic times of the requests within the limit's window. */
  readonly #recent: number[] = [];
  readonly #stop: () => void;
  #seed: number;
  #head = -1;
  /** Requests that were rejected because of the limit. */
  refused = 0;

  private constructor(chain: SyntheticChain, clock: Clock, seed: number, isNear: boolean) {
    this.#chain = chain;
    this.#clock = clock;
    this.#seed = seed;
    this.node.answer = async (method, params) => {
      if (!this.#isWithinLimit()) return { status: 429 };
      if (!isNear) await clock.sleep(this.#delayMs(), new AbortController().signal);
      return this.#answer(method, params);
    };
    this.#stop = clock.every(chain.blockMs / 2, () => {
      if (chain.head === this.#head) return;
      this.#head = chain.head;
      this.node.tellHead(this.#head);
    });
  }

  /** @param isNear Responds without delay. */
  static async open(
    chain: SyntheticChain,
    clock: Clock,
    seed: number,
    isNear: boolean,
  ): Promise<ChainEndpoint> {
    const endpoint = new ChainEndpoint(chain, clock, seed, isNear);
    await endpoint.node.listen();
    return endpoint;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
    await this.node[Symbol.asyncDispose]();
  }

  #isWithinLimit(): boolean {
    const now = this.#clock.monotonic();
    while ((this.#recent[0] ?? now) <= now - LIMIT_MS) this.#recent.shift();
    if (this.#recent.length >= LIMIT) {
      this.refused += 1;
      return false;
    }
    this.#recent.push(now);
    return true;
  }

  #delayMs(): number {
    this.#seed = (this.#seed * 48_271) % 2_147_483_647;
    return 100 + (this.#seed % 100);
  }

  #answer(method: string, [first, second]: readonly unknown[]): Answer {
    const chain = this.#chain;
    switch (method) {
      case "eth_chainId":
        return { result: `0x${chain.market.network.chainId.toString(16)}` };
      case "eth_blockNumber":
        return { result: `0x${chain.head.toString(16)}` };
      case "eth_getBlockByNumber":
        return { result: chain.header(chain.numberOf(first)) ?? null };
      case "eth_getBlockReceipts":
        return { resultText: chain.receipts(chain.numberOf(first)) };
      case "eth_getCode":
        return { result: chain.hasCode(String(first)) ? "0x60" : "0x" };
      case "eth_call":
        return this.#call(first, second);
      case "eth_subscribe":
        return { result: "0x" };
      default:
        return { error: { code: -32_601, message: `the method ${method} is not available` } };
    }
  }

  #call(given: unknown, tag: unknown): Answer {
    const { to = "0x", data = "0x" } = given as { readonly to?: string; readonly data?: Hex };
    const state = this.#chain.stateOf(tag);
    if (state === "pruned") return { error: { code: -32_000, message: "missing trie node" } };
    const result = this.#chain.call(to, data, state);
    if (result === undefined) return { error: { code: 3, message: "execution reverted" } };
    return { result };
  }
}
