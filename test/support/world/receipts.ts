import { hash } from "node:crypto";

/*
 * Receipts in JSON as nodes serve them, and the root of their trie. Written from the Yellow Paper,
 * independently of src, so that the proof of a block is not checked by the code that built it.
 */

/** A log without its position in a block. */
export interface LogSpec {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** A successful transaction. */
export interface TransactionSpec {
  readonly from: string;
  readonly to: string;
  readonly logs: readonly LogSpec[];
  /** Whether it is a deposit of the OP Stack, which begins each block there. */
  readonly isDeposit?: boolean;
}

/** Of every deposit. */
const DEPOSIT = { depositNonce: "0x2ec2cee", depositReceiptVersion: "0x1" } as const;
const NO_BLOOM = `0x${"0".repeat(512)}`;
const GAS = 120_000;

type Rlp = Buffer | readonly Rlp[];

/**
 * Placeholders in {@link receiptsText} for values that differ between blocks of equal transactions.
 */
export const BLOCK_HASH = `0x${"bb".repeat(32)}`;
export const BLOCK_NUMBER = "0xbbbbbbbb";
const HASH_START = "cc".repeat(28);

/** Returns the hash of a block's transaction. */
export function transactionHash(start: string, index: number): string {
  return `0x${start}${index.toString(16).padStart(8, "0")}`;
}

/** Returns the receipts as JSON, with placeholders that {@link fillReceipts} replaces. */
export function receiptsText(transactions: readonly TransactionSpec[]): string {
  let logIndex = 0;
  const receipts = transactions.map(({ from, to, logs, isDeposit = false }, index) => {
    const position = {
      blockHash: BLOCK_HASH,
      blockNumber: BLOCK_NUMBER,
      transactionHash: transactionHash(HASH_START, index),
      transactionIndex: hexOf(index),
    };
    return {
      ...position,
      ...{ type: isDeposit ? "0x7e" : "0x2", status: "0x1", from, to, contractAddress: null },
      ...(isDeposit ? DEPOSIT : {}),
      ...{ cumulativeGasUsed: hexOf(GAS * (index + 1)), gasUsed: hexOf(GAS), effectiveGasPrice: "0x5f5e100" },
      logsBloom: NO_BLOOM,
      logs: logs.map((log) => ({ ...log, ...position, logIndex: hexOf(logIndex++), removed: false })),
    };
  });
  return JSON.stringify(receipts);
}

/** Returns the receipts of one block, with the placeholders replaced. */
export function fillReceipts(text: string, block: { hash: string; number: number; start: string }): string {
  return text
    .replaceAll(BLOCK_HASH, block.hash)
    .replaceAll(BLOCK_NUMBER, hexOf(block.number))
    .replaceAll(HASH_START, block.start);
}

/** Returns the receipts of a block's transactions as encoded in the trie. */
export function encodeReceipts(transactions: readonly TransactionSpec[]): readonly Buffer[] {
  return transactions.map(({ logs, isDeposit = false }, index) => {
    const fields: Rlp = [
      bytesOf("0x1"),
      bytesOf(hexOf(GAS * (index + 1))),
      bytesOf(NO_BLOOM),
      logs.map(({ address, topics, data }) => [bytesOf(address), topics.map(bytesOf), bytesOf(data)]),
      ...(isDeposit ? Object.values(DEPOSIT).map(bytesOf) : []),
    ];
    return Buffer.concat([Buffer.of(isDeposit ? 0x7e : 2), encode(fields)]);
  });
}

/** Returns the root of the trie that maps the RLP of each index to its value. */
export function trieRoot(values: readonly Buffer[]): string {
  const entries = values.map((value, index): Entry => {
    const key = encode(index === 0 ? Buffer.alloc(0) : bytesOf(hexOf(index)));
    return [key.toString("hex"), value];
  });
  return `0x${keccak(encode(entries.length === 0 ? Buffer.alloc(0) : node(entries, 0))).toString("hex")}`;
}

export function keccak(data: Buffer): Buffer {
  return hash("keccak-256", data, "buffer");
}

export function hexOf(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

type Entry = readonly [path: string, value: Buffer];

function node(entries: readonly Entry[], depth: number): Rlp {
  const [[first, value] = ["", Buffer.alloc(0)]] = entries;
  if (entries.length === 1) return [packed(first.slice(depth), 2), value];
  let end = depth;
  while (entries.every(([path]) => path.length > end && path[end] === first[end])) end += 1;
  if (end > depth) return [packed(first.slice(depth, end), 0), reference(node(entries, end))];
  const children = [..."0123456789abcdef"].map((digit): Rlp => {
    const below = entries.filter(([path]) => path[depth] === digit);
    return below.length === 0 ? Buffer.alloc(0) : reference(node(below, depth + 1));
  });
  return [...children, entries.find(([path]) => path.length === depth)?.[1] ?? Buffer.alloc(0)];
}

function reference(child: Rlp): Rlp {
  const text = encode(child);
  return text.length < 32 ? child : keccak(text);
}

function packed(path: string, flag: number): Buffer {
  return Buffer.from(path.length % 2 === 1 ? `${flag + 1}${path}` : `${flag}0${path}`, "hex");
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.length % 2 === 0 ? hex.slice(2) : `0${hex.slice(2)}`, "hex");
}

function encode(item: Rlp): Buffer {
  if (Buffer.isBuffer(item)) {
    const [byte = 0xff] = item;
    return item.length === 1 && byte < 0x80 ? item : Buffer.concat([head(item.length, 0x80), item]);
  }
  const body = Buffer.concat(item.map(encode));
  return Buffer.concat([head(body.length, 0xc0), body]);
}

function head(length: number, offset: number): Buffer {
  if (length < 56) return Buffer.of(offset + length);
  const size = bytesOf(hexOf(length));
  return Buffer.concat([Buffer.of(offset + 55 + size.length), size]);
}
