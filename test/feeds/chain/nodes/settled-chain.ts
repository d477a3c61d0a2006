import { keccak256 } from "ox/Hash";
import type { Answer, ScriptedNode } from "./scripted-node.ts";

/*
 * A chain that settles its blocks later, as Avalanche does since ACP-194. Its roots and hashes are
 * computed differently than in the product: keys are added to the trie one at a time.
 */

type Rlp = string | readonly Rlp[];

const bare = (hex: string) => hex.slice(2);
/** Returns an even number of digits without a prefix; none for zero. */
const number = (value: bigint | number) => {
  const digits = value.toString(16);
  return BigInt(value) === 0n ? "" : digits.length % 2 ? `0${digits}` : digits;
};
const hashOf = (digits: string) => bare(keccak256(`0x${digits}`));

/** Returns the RLP of texts of hexadecimal digits. */
export function rlp(item: Rlp): string {
  const isText = typeof item === "string";
  const body = isText ? item : item.map(rlp).join("");
  if (isText && body.length === 2 && Number.parseInt(body, 16) < 0x80) return body;
  const length = body.length / 2;
  const base = isText ? 0x80 : 0xc0;
  if (length < 56) return (base + length).toString(16) + body;
  const size = number(length);
  return (base + 55 + size.length / 2).toString(16) + size + body;
}

type Node =
  | { readonly kind: "short"; readonly path: string; readonly end: string | Node }
  | { readonly kind: "branch"; readonly below: readonly (Node | undefined)[]; readonly value: string };

function shared(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** Puts a value at a path of hexadecimal digits. */
function put(node: Node | undefined, path: string, value: string): Node {
  if (!node) return { kind: "short", path, end: value };
  if (node.kind === "branch") {
    if (path === "") return { ...node, value };
    const below = [...node.below];
    const digit = Number.parseInt(path.slice(0, 1), 16);
    below[digit] = put(below[digit], path.slice(1), value);
    return { ...node, below };
  }
  const at = shared(node.path, path);
  if (at === node.path.length && typeof node.end !== "string")
    return { ...node, end: put(node.end, path.slice(at), value) };
  const rest = node.path.slice(at);
  const below: (Node | undefined)[] = Array(16).fill(undefined);
  let own = "";
  if (rest === "" && typeof node.end === "string") own = node.end;
  else {
    const after = rest.slice(1);
    below[Number.parseInt(rest.slice(0, 1), 16)] =
      after === "" && typeof node.end !== "string" ? node.end : { kind: "short", path: after, end: node.end };
  }
  const branch = put({ kind: "branch", below, value: own }, path.slice(at), value);
  return at === 0 ? branch : { kind: "short", path: path.slice(0, at), end: branch };
}

/** Returns a node's RLP items. Child nodes of 32 bytes or more are replaced by their hash. */
function items(node: Node): Rlp {
  if (node.kind === "branch") return [...node.below.map((one) => (one ? refer(one) : "")), node.value];
  const flag = (typeof node.end === "string" ? 2 : 0) + (node.path.length % 2);
  const path = flag.toString(16) + (flag % 2 ? "" : "0") + node.path;
  return [path, typeof node.end === "string" ? node.end : refer(node.end)];
}
function refer(node: Node): Rlp {
  const own = items(node);
  const encoded = rlp(own);
  return encoded.length < 64 ? own : hashOf(encoded);
}

/** Returns the root of a trie of these values, whose keys are the RLP of their index. */
export function rootOf(values: readonly string[]): string {
  let root: Node | undefined;
  for (const [index, value] of values.entries()) root = put(root, rlp(number(index)), value);
  return `0x${hashOf(root ? rlp(items(root)) : rlp(""))}`;
}

export interface Receipt {
  readonly type: string;
  readonly status: string;
  readonly cumulativeGasUsed: string;
  readonly logsBloom: string;
  readonly logs: readonly {
    readonly address: string;
    readonly topics: readonly string[];
    readonly data: string;
    readonly logIndex: string;
  }[];
  readonly transactionHash: string;
  readonly blockHash: string;
  readonly from: string;
}
export type Header = Readonly<Record<string, unknown>> & {
  readonly hash: string;
  readonly number: string;
  readonly settledHeight: string;
  readonly timestamp: string;
  readonly receiptsRoot: string;
  readonly transactions: readonly string[];
};

export function encoded({ type, status, cumulativeGasUsed, logsBloom, logs }: Receipt): string {
  const body = rlp([
    ...[number(Number(status)), number(Number(cumulativeGasUsed)), bare(logsBloom)],
    logs.map(({ address, topics, data }) => [bare(address), topics.map(bare), bare(data)]),
  ]);
  return Number(type) === 0 ? body : number(Number(type)) + body;
}

const hex = (value: bigint | number) => `0x${value.toString(16)}`;
const word = (value: number, bytes = 32) => `0x${value.toString(16).padStart(bytes * 2, "0")}`;
const EMPTY_ROOT = rootOf([]);

/** Returns the hash of a header of this form. */
export function headerHash(header: Readonly<Record<string, unknown>>): string {
  const text = (name: string) => String(header[name]);
  const bytes = (...names: readonly string[]) => names.map((name) => bare(text(name)));
  const numbers = (...names: readonly string[]) => names.map((name) => number(BigInt(text(name))));
  return `0x${hashOf(
    rlp([
      ...bytes("parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot"),
      ...bytes("logsBloom"),
      ...numbers("difficulty", "number", "gasLimit", "gasUsed", "timestamp"),
      ...bytes("extraData", "mixHash", "nonce", "extDataHash"),
      ...numbers("baseFeePerGas", "extDataGasUsed", "blockGasCost", "blobGasUsed", "excessBlobGas"),
      ...bytes("parentBeaconBlockRoot"),
      ...numbers("timestampMilliseconds", "minDelayExcess", "targetExponent", "minPriceExponent"),
      ...numbers("settledHeight", "settledGasUnix", "settledGasNumerator", "settledExcess"),
    ]),
  )}`;
}

/** Builds a header of this form; its hash is that of its fields. */
export function headerOf(fields: Readonly<Record<string, unknown>>): Header {
  const header = {
    sha3Uncles: word(1),
    miner: word(2, 20),
    stateRoot: word(3),
    transactionsRoot: word(4),
    logsBloom: word(0, 256),
    difficulty: "0x1",
    gasLimit: "0x1e84800",
    gasUsed: "0x5208",
    extraData: "0x0000",
    mixHash: word(0),
    nonce: word(0, 8),
    extDataHash: word(5),
    baseFeePerGas: "0xa",
    extDataGasUsed: "0x0",
    blockGasCost: "0x0",
    blobGasUsed: "0x0",
    excessBlobGas: "0x0",
    parentBeaconBlockRoot: word(0),
    minDelayExcess: "0x6cd69c",
    targetExponent: "0xf0a451",
    minPriceExponent: "0xd49a784bcd1b8b0",
    settledGasUnix: "0x6a971370",
    settledGasNumerator: "0x83720",
    settledExcess: "0x131b81f7",
    size: "0x2ef",
    uncles: [],
    ...fields,
  };
  return { ...header, hash: headerHash(header) } as unknown as Header;
}

function receiptsOf(block: number, count: number): Omit<Receipt, "blockHash">[] {
  let logIndex = 0;
  return Array.from({ length: count }, (_, index) => ({
    type: hex([0, 2, 1][(block + index) % 3] ?? 0),
    status: index % 4 === 3 ? "0x0" : "0x1",
    cumulativeGasUsed: hex(21_000 * (index + 1) + block),
    logsBloom: word(block * 100 + index, 256),
    logs: Array.from({ length: (block + index) % 3 }, () => ({
      address: word(block + 1, 20),
      topics: [word(index), word(block)],
      data: word(block * 1_000 + logIndex),
      logIndex: hex(logIndex++),
    })),
    transactionHash: word(block * 1_000 + index + 1),
    from: word(900 + index, 20),
  }));
}

/** A chain whose blocks are given by the height that each settles. The first executes at once. */
export class SettledChain {
  readonly headers: Header[] = [];
  readonly receipts: Receipt[][] = [];
  readonly #settled: readonly number[];
  readonly #secondAt: (number: number) => number;

  /** `counts`: receipts of each block. */
  constructor(
    settled: readonly number[],
    counts: readonly number[],
    secondAt = (number: number) => 1_760_000_000 + number,
  ) {
    this.#settled = settled;
    this.#secondAt = secondAt;
    for (const [height] of settled.entries()) this.#add(height, counts[height] ?? 0);
  }

  get height(): number {
    return this.headers.length - 1;
  }

  /** Height up to which blocks are settled. */
  get settled(): number {
    return this.#settled[this.height] ?? 0;
  }

  /** Returns a node's response. The node has not executed its last `unexecuted` blocks. */
  answer(method: string, [id]: readonly unknown[], unexecuted = 0): Answer | undefined {
    const at = id === "finalized" ? this.settled : Number(id);
    if (method === "eth_getHeaderByNumber" || method === "eth_getBlockByNumber")
      return { result: this.headers[at] ?? null };
    if (method !== "eth_getBlockReceipts") return undefined;
    return { result: at > this.height - unexecuted ? null : (this.receipts[at] ?? null) };
  }

  answers(node: ScriptedNode, unexecuted = 0): void {
    node.answer = (method, params) => this.answer(method, params, unexecuted);
  }

  /** Returns a copy, modified by `change`. */
  with(change: (copy: SettledChain) => void): SettledChain {
    const copy = new SettledChain([], []);
    copy.headers.push(...this.headers);
    copy.receipts.push(...this.receipts.map((one) => [...one]));
    Object.defineProperty(copy, "settled", { value: this.settled });
    change(copy);
    return copy;
  }

  #add(height: number, count: number): void {
    const own = receiptsOf(height, count);
    const before = this.#settled[height - 1] ?? 0;
    const settled = this.receipts.slice(before + 1, (this.#settled[height] ?? 0) + 1).flat();
    const second = this.#secondAt(height);
    const header = headerOf({
      number: hex(height),
      parentHash: this.headers[height - 1]?.hash ?? EMPTY_ROOT,
      timestamp: hex(second),
      timestampMilliseconds: hex(second * 1_000 + 250),
      transactions: own.map(({ transactionHash }) => transactionHash),
      receiptsRoot: rootOf((height === 0 ? own : settled).map((one) => encoded(one as Receipt))),
      settledHeight: hex(this.#settled[height] ?? 0),
    });
    // The first header has an older form, without this field.
    const { settledHeight, ...first } = header;
    this.headers.push(height === 0 ? (first as Header) : header);
    this.receipts.push(own.map((receipt) => ({ ...receipt, blockHash: header.hash })));
  }
}
