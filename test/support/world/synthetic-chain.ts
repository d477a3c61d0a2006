import type { Hex } from "ox/Hex";
import type { Network } from "../../../src/feeds/chain/network.ts";
import { NETWORKS, type NetworkName } from "../../../src/feeds/chain/networks.ts";
import { ContractCalls } from "./contract-calls.ts";
import {
  encodeReceipts,
  fillReceipts,
  hexOf,
  keccak,
  receiptsText,
  type TransactionSpec,
  transactionHash,
  trieRoot,
} from "./receipts.ts";
import { type Density, SyntheticMarket, type SyntheticTrade } from "./synthetic-market.ts";

/** Time between two blocks in milliseconds, as of November 2026. */
const BLOCK_MS: Readonly<Record<string, number>> = { bsc: 450, polygon: 1_750, avalanche: 1_200 };
/** Of any other chain. */
const OTHER_BLOCK_MS = 2_000;
/** Blocks between the finalized one and the head. On Avalanche the settled block is final. */
const FINAL_AFTER = 2;
/** The same on chains of the OP Stack: 20 minutes. */
const FINAL_LATE = 600;
/** Number of latest blocks whose state a full node stores. */
const STATES = 128;
/** Avalanche settles blocks about five seconds later. */
const SETTLED_AFTER = 4;
/** Height of the chain at its start. */
const FIRST_HEAD = 40_000_000;

const DEPOSITOR = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001";
const DEPOSIT: TransactionSpec = { from: DEPOSITOR, to: DEPOSITOR, logs: [], isDeposit: true };

/** A block's transactions, with the values computed from them once. */
interface Body {
  readonly transactions: readonly TransactionSpec[];
  readonly trades: readonly SyntheticTrade[];
  readonly text: string;
  readonly encoded: readonly Buffer[];
}

type State = number | "pruned";

/**
 * A chain whose blocks depend only on their number and the clock. Headers have the current format:
 * BSC's have milliseconds, Avalanche's settle the receipts of earlier blocks.
 */
export class SyntheticChain {
  readonly name: string;
  readonly market: SyntheticMarket;
  readonly blockMs: number;
  readonly #calls: ContractCalls;
  readonly #nowMs: () => number;
  readonly #originMs: number;
  readonly #bodies: readonly Body[];
  /** Blocks with a listing. */
  readonly #listings = new Map<number, Body>();
  readonly #roots = new Map<string, string>();

  /** A chain whose own finality is late is one of the OP Stack. */
  constructor(chain: NetworkName | Network, density: Density, nowMs: () => number) {
    const network: Network = typeof chain === "string" ? NETWORKS[chain] : chain;
    this.name = network.name;
    this.market = new SyntheticMarket(network, density);
    this.#calls = new ContractCalls(this.market);
    this.blockMs = BLOCK_MS[network.name] ?? OTHER_BLOCK_MS;
    this.#nowMs = nowMs;
    this.#originMs = nowMs() - FIRST_HEAD * this.blockMs;
    const first = network.isFinalByDepth ? [DEPOSIT] : [];
    this.#bodies = this.market.templates.map(({ transactions, trades }) =>
      bodyOf([...first, ...transactions], trades),
    );
  }

  /** The number of the latest block. */
  get head(): number {
    return Math.floor((this.#nowMs() - this.#originMs) / this.blockMs);
  }

  /** Returns the event time of a block. Only Avalanche uses milliseconds. */
  atMs(number: number): number {
    const stepMs = this.name === "avalanche" ? 1 : 1_000;
    return Math.floor(this.#timeOf(number) / stepMs) * stepMs;
  }

  /** Returns the swaps of a block, in order. */
  tradesOf(number: number): readonly SyntheticTrade[] {
    return this.#body(number).trades;
  }

  /** Lists a new token in the block after the next one. Returns its address. */
  list(symbol: string): string {
    const number = this.head + 2;
    const { pool, transaction } = this.market.list(number);
    const { transactions, trades } = this.#body(number);
    this.#calls.add(pool, symbol);
    this.#listings.set(number, bodyOf([...transactions, transaction], trades));
    return pool.token;
  }

  /** Returns the block that a tag or a hexadecimal number names. */
  numberOf(tag: unknown): number {
    if (tag === "finalized" || tag === "safe") return this.#finalAt(this.head);
    return typeof tag === "string" && tag.startsWith("0x") ? Number(tag) : this.head;
  }

  header(number: number): Readonly<Record<string, unknown>> | undefined {
    if (number < 0 || number > this.head) return undefined;
    const { encoded } = this.#body(number);
    const start = this.#startOf(number);
    const common = {
      number: hexOf(number),
      hash: this.#hashOf(number),
      parentHash: this.#hashOf(number - 1),
      timestamp: hexOf(Math.floor(this.#timeOf(number) / 1_000)),
      transactions: encoded.map((_, index) => transactionHash(start, index)),
      ...{ gasLimit: "0x8583b00", gasUsed: hexOf(120_000 * encoded.length), baseFeePerGas: "0x0" },
      ...{ difficulty: "0x2", extraData: "0x", nonce: "0x0000000000000000", size: "0x8000", uncles: [] },
    };
    if (this.name !== "avalanche") {
      const root = this.#rootOf(number, number);
      return { ...common, receiptsRoot: root, milliTimestamp: hexOf(Math.floor(this.#timeOf(number))) };
    }
    const settled = settledBy(number);
    return {
      ...common,
      receiptsRoot: this.#rootOf(settledBy(number - 1) + 1, settled),
      ...{ settledHeight: hexOf(settled), timestampMilliseconds: hexOf(Math.floor(this.#timeOf(number))) },
    };
  }

  /** Returns the receipts of a block as JSON. */
  receipts(number: number): string {
    if (number < 0 || number > this.head) return "null";
    const [hash, start] = [this.#hashOf(number), this.#startOf(number)];
    return fillReceipts(this.#body(number).text, { hash, number, start });
  }

  hasCode(address: string): boolean {
    return this.#calls.hasCode(address);
  }

  /** Returns the block whose state a call at this tag uses. */
  stateOf(tag: unknown): State {
    const number = this.numberOf(tag);
    return number < this.head - STATES ? "pruned" : number;
  }

  /** Returns a call's result at a block; `undefined` if it reverts. */
  call(to: string, input: Hex, number: number): Hex | undefined {
    return this.#calls.call(to, input, number);
  }

  #timeOf(number: number): number {
    return this.#originMs + number * this.blockMs;
  }

  #finalAt(head: number): number {
    if (this.name === "avalanche") return settledBy(head);
    return head - (this.market.network.isFinalByDepth ? FINAL_LATE : FINAL_AFTER);
  }

  #body(number: number): Body {
    const body = this.#listings.get(number) ?? this.#bodies[number % this.#bodies.length];
    if (!body) throw new Error(`${this.name} has no block ${number}`);
    return body;
  }

  /** Returns the root of the receipts of these blocks, concatenated. */
  #rootOf(from: number, to: number): string {
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    const key = numbers
      .map((number) => (this.#listings.has(number) ? `x${number}` : number % this.#bodies.length))
      .join();
    const known = this.#roots.get(key);
    if (known !== undefined) return known;
    const root = trieRoot(numbers.flatMap((number) => this.#body(number).encoded));
    this.#roots.set(key, root);
    return root;
  }

  #hashOf(number: number): string {
    return `0x${keccak(Buffer.from(`${this.name} ${number}`)).toString("hex")}`;
  }

  #startOf(number: number): string {
    return this.#hashOf(number).slice(2, 58);
  }
}

/**
 * Returns the height up to which a block of Avalanche settles: 0 to 2 above the previous block's.
 */
function settledBy(number: number): number {
  return number - SETTLED_AFTER - (number % 3 === 0 ? 1 : 0);
}

function bodyOf(transactions: readonly TransactionSpec[], trades: readonly SyntheticTrade[]): Body {
  return { transactions, trades, text: receiptsText(transactions), encoded: encodeReceipts(transactions) };
}
