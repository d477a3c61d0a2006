import * as Hex from "ox/Hex";
import * as Rlp from "ox/Rlp";
import type { z } from "zod";
import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import { reasonOf } from "../../service/unread.ts";
import { contradictionOf, Header, type Receipt, Receipts } from "../evm-block.ts";
import type { Endpoint } from "./endpoint.ts";
import { keccak } from "./keccak.ts";
import { countProved, receiptsRootOf } from "./receipts-root.ts";
import { RpcFailure } from "./rpc-failure.ts";

/*
 * Reads blocks from one endpoint and proves their receipts by its headers.
 *
 * Usually the root in a header covers the block's own receipts. Avalanche executes a block after it
 * was accepted (ACP-194, since Helicon). There the root in header H covers, in one trie, the
 * receipts of all blocks that H settles. These are the blocks settledHeight(H − 1) + 1 to
 * settledHeight(H), which are about five seconds older. So a later header proves such a block.
 * Source: avalanchego, vms/saevm/sae/block_builder.go and vms/saevm/blocks/settlement.go.
 */

/** A block whose receipts are proved. */
export interface ProvedBlock {
  readonly header: Header;
  readonly receipts: readonly Receipt[];
  readonly proof: readonly Evidence[];
}

/** A header on which a proof depends. */
interface Evidence {
  readonly header: Header;
  /** Whether the proof uses its transactions, which show which of the receipts are the block's. */
  readonly withTransactions: boolean;
}

/** Identifies what a proof uses of a header, so that endpoints can be compared. */
export function keyOf({ header, withTransactions }: Evidence): string {
  const { transactions, ...rest } = header;
  return JSON.stringify(withTransactions ? header : rest);
}

/** Maximum number of headers in memory, about a minute of blocks. */
const MAX_HEADERS = 128;
const MAX_SETTLERS = 8;
/** Maximum distance from a block to the header that settles it. */
const MAX_LAG = 512;
/** Maximum number of blocks that one header settles. */
const MAX_SETTLED = 256;

type BlockSource = Pick<Endpoint, "ask"> & Partial<Pick<Endpoint, "tally">>;

export class EndpointBlocks {
  readonly #endpoint: BlockSource;
  /**
   * Headers by number. Kept only if blocks are settled later, because several blocks then need each
   * header.
   */
  readonly #headers = new BoundedMap<number, Promise<Header | undefined>>(MAX_HEADERS);
  /** Proved blocks, by the number of the header that settles them. */
  readonly #settled = new BoundedMap<number, Promise<readonly ProvedBlock[]>>(MAX_SETTLERS);
  #settlesLater = false;

  constructor(endpoint: BlockSource) {
    this.#endpoint = endpoint;
  }

  /** Returns the header at that height; `undefined` if the endpoint does not have that block. */
  header(number: number, signal: AbortSignal): Promise<Header | undefined> {
    return this.#headers.ensure(number, () => {
      const read = this.#readHeader(number, signal);
      const forget = () => this.#headers.delete(number);
      read.then((header) => header?.settledHeight ?? forget(), forget);
      return read;
    });
  }

  /** Returns the block at that height. Rejects with RpcFailure: `pending` if it is not settled. */
  async proved(number: number, signal: AbortSignal): Promise<ProvedBlock> {
    const reading = this.#requireHeader(number, signal);
    // Read the receipts at the same time, unless a later block settles them.
    const own = this.#settlesLater ? undefined : this.#receipts(number, signal);
    own?.catch(() => undefined);
    const header = await reading;
    this.#settlesLater = header.settledHeight !== undefined;
    if (!this.#settlesLater) return provedByOwnHeader(header, await (own ?? this.#receipts(number, signal)));
    const [parent, settler] = await this.#settlerOf(header, signal);
    const settled = await this.#settled.ensure(settler.number, () => {
      const read = this.#provedBy(parent, settler, signal);
      read.catch(() => this.#settled.delete(settler.number));
      return read;
    });
    const block = settled.find((one) => one.header.number === number);
    if (block) return block;
    throw new RpcFailure("failed", `returned block ${settler.number}, which does not settle block ${number}`);
  }

  /** Returns [parent, settler]: `settler` is the first header that settles the block. */
  async #settlerOf(block: Header, signal: AbortSignal): Promise<readonly [Header, Header]> {
    const { number } = block;
    const settles = (header: Header) => settledBy(header) >= number;
    // Start with this block's own lag: the lag changes little from block to block.
    let at = number + Math.min(MAX_LAG, Math.max(1, number - settledBy(block)));
    for (; at > number + 1; at--) {
      const before = await this.header(at - 1, signal);
      if (before && !settles(before)) break;
    }
    for (; at <= number + MAX_LAG; at++) {
      const settler = await this.header(at, signal);
      if (!settler) throw new RpcFailure("pending", `has no header that settles block ${number} yet`);
      if (settles(settler)) return [await this.#requireHeader(at - 1, signal), settler];
    }
    throw new RpcFailure("failed", `returned ${MAX_LAG} blocks after block ${number} that do not settle it`);
  }

  async #provedBy(parent: Header, settler: Header, signal: AbortSignal): Promise<readonly ProvedBlock[]> {
    const first = settledBy(parent) + 1;
    const count = settledBy(settler) - settledBy(parent);
    if (parent.hash !== settler.parentHash || count > MAX_SETTLED || settledBy(settler) >= settler.number)
      throw new RpcFailure(
        "failed",
        `returned block ${settler.number} with an invalid parent or settled height`,
      );
    const blocks = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const number = first + index;
        const [header, receipts] = await Promise.all([
          this.#requireHeader(number, signal),
          this.#receipts(number, signal),
        ]);
        if (receipts) return { header, receipts };
        // The node accepted the block but has not executed it.
        throw new RpcFailure("pending", `has no receipts of block ${number} yet`);
      }),
    );
    for (const { header, receipts } of blocks) rejectIf(header, contradictionOf(header, receipts));
    const root = receiptsRootOf(blocks.flatMap(({ receipts }) => receipts));
    if (root !== settler.receiptsRoot)
      throw new RpcFailure(
        "failed",
        `returned logs of blocks ${first} to ${settledBy(settler)} that do not match the header of block ${settler.number}`,
      );
    const proof = [
      ...blocks.map(({ header }) => ({ header, withTransactions: true })),
      ...[parent, settler].map((header) => ({ header, withTransactions: false })),
    ];
    return blocks.map((block) => ({ ...block, proof }));
  }

  async #requireHeader(number: number, signal: AbortSignal): Promise<Header> {
    const header = await this.header(number, signal);
    if (header) return header;
    // Of several nodes behind one address, some get a block later.
    throw new RpcFailure("pending", `has no block ${number}`);
  }

  async #readHeader(number: number, signal: AbortSignal): Promise<Header | undefined> {
    const answer = await this.#endpoint.ask("eth_getBlockByNumber", [Hex.fromNumber(number), false], signal);
    if (answer === null) return undefined;
    const header = this.#parse(Header, answer, number);
    if (header.number !== number)
      throw new RpcFailure("failed", `returned block ${header.number} instead of block ${number}`);
    if (header.settledHeight !== undefined && contradictsHash(answer as Record<string, unknown>))
      throw new RpcFailure("failed", `returned a header of block ${number} that does not match its hash`);
    return header;
  }

  async #receipts(number: number, signal: AbortSignal): Promise<readonly Receipt[] | undefined> {
    const answer = await this.#endpoint.ask("eth_getBlockReceipts", [Hex.fromNumber(number)], signal);
    return answer === null ? undefined : this.#parse(Receipts, answer, number);
  }

  #parse<T>(schema: z.ZodType<T>, answer: unknown, number: number): T {
    const read = schema.safeParse(answer);
    if (read.success) return read.data;
    this.#endpoint.tally?.unread.count("blocks", reasonOf(read.error, answer).replace(/^\*\./, ""));
    throw new RpcFailure("failed", `returned an invalid block ${number}`, { cause: read.error });
  }
}

function provedByOwnHeader(header: Header, receipts: readonly Receipt[] | undefined): ProvedBlock {
  if (!receipts) throw new RpcFailure("failed", `has no receipts of block ${header.number}`);
  rejectIf(header, contradictionOf(header, receipts));
  const proved = countProved(receipts, header.receiptsRoot);
  if (proved < 0)
    throw new RpcFailure("failed", `returned logs of block ${header.number} that do not match its header`);
  return { header, receipts: receipts.slice(0, proved), proof: [{ header, withTransactions: false }] };
}

/** Returns the last block that a header settles: its own block on chains that settle at once. */
function settledBy({ settledHeight, number }: Header): number {
  return settledHeight ?? number;
}

function rejectIf({ number }: Header, contradiction: string | undefined): void {
  if (contradiction !== undefined)
    throw new RpcFailure("failed", `returned block ${number}, which ${contradiction}`);
}

/**
 * The fields of an Avalanche C-Chain header since Helicon, in the order in which its hash covers
 * them: avalanchego, graft/coreth/plugin/evm/customtypes/gen_header_serializable_rlp.go.
 */
const HEADER_FIELDS = [
  ...["parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot", "logsBloom"],
  ...["difficulty", "number", "gasLimit", "gasUsed", "timestamp", "extraData", "mixHash", "nonce"],
  ...["extDataHash", "baseFeePerGas", "extDataGasUsed", "blockGasCost", "blobGasUsed", "excessBlobGas"],
  ...["parentBeaconBlockRoot", "timestampMilliseconds", "minDelayExcess", "targetExponent"],
  ...["minPriceExponent", "settledHeight", "settledGasUnix", "settledGasNumerator", "settledExcess"],
];
/** Fields of the response that are not part of the header. */
const OTHER_FIELDS = ["hash", "size", "totalDifficulty", "transactions", "uncles", "blockExtraData"];
const KNOWN_FIELDS: ReadonlySet<string> = new Set([...HEADER_FIELDS, ...OTHER_FIELDS]);

/**
 * Returns whether a header, as a node returned it, does not match the hash that it claims. Returns
 * `false` if one of {@link HEADER_FIELDS} is missing or an unknown field is present, because a
 * later upgrade may have changed the hash.
 */
function contradictsHash(header: Readonly<Record<string, unknown> & { hash?: unknown }>): boolean {
  const values = HEADER_FIELDS.map((name) => header[name]);
  const hexes = values.filter((value) => typeof value === "string");
  if (hexes.length < HEADER_FIELDS.length || Object.keys(header).some((name) => !KNOWN_FIELDS.has(name)))
    return false;
  const hash = Buffer.from(keccak(Rlp.fromBytes(hexes.map(bytesOf)))).toString("hex");
  return `0x${hash}` !== String(header.hash).toLowerCase();
}

/**
 * An odd number of digits means an integer, which is padded to whole bytes. RLP encodes the integer
 * 0 as no bytes.
 */
function bytesOf(hex: string): Uint8Array {
  const digits = hex === "0x0" ? "" : hex.slice(2);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
}
