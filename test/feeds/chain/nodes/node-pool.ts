import { EndpointPool } from "../../../../src/feeds/chain/rpc/endpoint-pool.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { stillRunning } from "../../../support/time/still-running.ts";
import { settle, until } from "../../exchange/scripted-venue.ts";
import { CHAIN, type ScriptedNode } from "./scripted-node.ts";

/** Runs a pool of these nodes with a manual clock. */
export class NodePool implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly notices: string[] = [];
  readonly pool: EndpointPool;
  readonly #nodes: readonly ScriptedNode[];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(nodes: readonly ScriptedNode[], maxRequests = Number.POSITIVE_INFINITY) {
    this.#nodes = nodes;
    this.pool = new EndpointPool({
      urls: nodes.map(({ url }) => url),
      network: { chainId: CHAIN, finalityBlocks: 5 },
      clock: this.clock,
      maxRequests,
      notify: this.notify,
    });
    this.#running = this.pool.run(this.signal);
  }

  /** Aborts when the pool is disposed of. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Records a message without its endpoint's name. */
  readonly notify = (_level: string, sentence: string): void => {
    this.notices.push(sentence.replace(/^127\.\S+ /, ""));
  };

  /** Waits until every node was polled for the first time. */
  ready(): Promise<void> {
    return until("all nodes were polled", () => stillRunning().length >= this.#nodes.length);
  }

  /** Advances a second, and waits until every node was polled again. */
  async look(): Promise<void> {
    const before = this.clock.slept.length;
    this.clock.advance(1_000);
    await until("all nodes were polled again", () => this.clock.slept.length >= before + this.#nodes.length);
    await settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}
