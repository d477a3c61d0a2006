import { type Abi, encodeAbiParameters, encodeEventTopics } from "viem";
import type { MarketEvent } from "../../../../src/base/market/index.ts";
import type { Network } from "../../../../src/feeds/chain/network.ts";
import { BlockTranslator } from "../../../../src/feeds/chain/pools/block-translator.ts";
import type { EvmLog } from "../../../../src/feeds/chain/pools/evm-log.ts";
import { wallet } from "../nodes/test-chain.ts";

/** A log to write: its emitter, its event, and the event's values by name. */
type Entry = readonly [address: string, eventName: string, values: Readonly<Record<string, unknown>>];

/** Who trades in these blocks, and sends each transaction. */
export const TRADER = wallet(9);

/** Writes blocks of one transaction by the signatures of an ABI, and translates them. */
export class ModelBlocks {
  readonly translator: BlockTranslator;
  readonly #abi: Abi;
  #number = 0;

  /** @param tokens Tokens of 18 decimals. */
  constructor(network: Network, abi: Abi, tokens: readonly string[]) {
    this.translator = new BlockTranslator(network);
    this.#abi = abi;
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
    return this.translator.translate(this.translator.read(block));
  }

  #log([address, eventName, values]: Entry, logIndex: number): EvmLog {
    const event = this.#abi.find((one) => one.type === "event" && one.name === eventName);
    const inputs = event?.type === "event" ? event.inputs : [];
    const args: Record<string, unknown> = { sender: TRADER, recipient: TRADER, to: TRADER, ...values };
    const plain = inputs.filter(({ indexed }) => !indexed);
    const topics = encodeEventTopics({ abi: this.#abi, eventName, args } as never) as string[];
    const data = encodeAbiParameters(plain, plain.map(({ name = "" }) => args[name]) as never);
    return { address, topics, data, logIndex, transactionHash: `0x${this.#number}`, origin: TRADER };
  }
}
