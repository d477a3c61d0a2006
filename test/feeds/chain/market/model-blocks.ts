import type { Abi } from "ox/Abi";
import type { MarketEvent } from "../../../../src/base/market/index.ts";
import type { Factory, Network } from "../../../../src/feeds/chain/network.ts";
import { BlockTranslator } from "../../../../src/feeds/chain/pools/block-translator.ts";
import type { EvmLog } from "../../../../src/feeds/chain/pools/evm-log.ts";
import { FORMS } from "../../../../src/feeds/chain/pools/forms/forms.ts";
import type { UnknownPool } from "../../../../src/feeds/chain/pools/forms/pool-form.ts";
import { encodeEvent } from "../../../support/world/encoded-event.ts";
import { answer } from "../nodes/answer.ts";
import { wallet } from "../nodes/test-chain.ts";

/** A log to write: its emitter, its event, and the event's values by name. */
type Entry = readonly [address: string, eventName: string, values: Readonly<Record<string, unknown>>];

/** Answers of contracts, by the names of their functions. */
type Contracts = Parameters<typeof answer>[1];

/** Who trades in these blocks, and sends each transaction. */
export const TRADER = wallet(9);

/** Writes blocks of one transaction by the signatures of an ABI, and translates them. */
export class ModelBlocks {
  readonly translator: BlockTranslator;
  readonly #abi: Abi;
  readonly #factories: ReadonlyMap<string, Factory>;
  readonly #contracts: Contracts;
  #number = 0;

  /** @param tokens Tokens of 18 decimals. */
  constructor(network: Network, abi: Abi, tokens: readonly string[], contracts: Contracts = {}) {
    this.translator = new BlockTranslator(network);
    this.#abi = abi;
    this.#factories = new Map(network.factories.map((factory) => [factory.address, factory]));
    this.#contracts = contracts;
    for (const address of tokens)
      this.translator.pools.learnToken(address, {
        address,
        decimals: 18,
        symbol: undefined,
        name: undefined,
      });
  }

  /** Returns the events of the next block. Its number is also its time. */
  mine(...entries: readonly Entry[]): MarketEvent[] {
    this.#number += 1;
    const logs = entries.map((entry, logIndex) => this.#log(entry, logIndex));
    const block = { number: this.#number, hash: "0x", parentHash: "0x", atMs: this.#number, logs };
    const read = this.translator.read(block);
    for (const pool of this.translator.unknownPools(read.logs)) this.#learn(pool);
    return this.translator.translate(read);
  }

  #learn(pool: UnknownPool): void {
    const { identify, readState } = FORMS[pool.form];
    const identity = answer(identify(pool, this.#factories), this.#contracts);
    const factory = identity && this.#factories.get(identity.factory);
    if (!factory) return;
    const state = answer(readState(identity, factory, this.#number - 1), this.#contracts);
    this.translator.pools.learnPool({ ...identity, state });
  }

  #log([address, eventName, values]: Entry, logIndex: number): EvmLog {
    const args: Record<string, unknown> = { sender: TRADER, recipient: TRADER, to: TRADER, ...values };
    const { topics, data } = encodeEvent(this.#abi, eventName, args);
    return { address, topics, data, logIndex, transactionHash: `0x${this.#number}`, origin: TRADER };
  }
}
