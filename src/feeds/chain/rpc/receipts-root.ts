import * as Rlp from "ox/Rlp";
import type { Receipt } from "../evm-block.ts";
import { type Keccak, keccak } from "./keccak.ts";

/*
 * Verifies receipts against the root in a header: a changed, added or missing log changes the root.
 * It is the root of a Merkle Patricia trie that maps the RLP of each index to its receipt (Ethereum
 * yellow paper, section 4.3.2 and appendix D; EIP-2718 for the type prefix).
 */

type Bytes = Uint8Array;
type Node = Bytes | readonly Node[];

const EMPTY = new Uint8Array();
/** A deposit of the OP Stack: https://specs.optimism.io/protocol/deposits.html#deposit-receipt */
const DEPOSIT = 0x7e;

/**
 * Returns how many of the receipts, from the first on, the root covers; −1 if it does not match. It
 * covers all of them, except on a chain that appends a receipt of its own: then all but the last.
 * Polygon did so for state syncs, before they were part of the block.
 */
export function countProved(receipts: readonly Receipt[], root: string, hash = keccak): number {
  const encoded = receipts.map(encodeReceipt);
  if (rootOf(encoded, hash) === root) return encoded.length;
  const last = receipts.at(-1);
  const isAdded = last !== undefined && last.from === `0x${"0".repeat(40)}`;
  return isAdded && rootOf(encoded.slice(0, -1), hash) === root ? encoded.length - 1 : -1;
}

/** Returns the root of receipts, which may belong to several blocks. */
export function receiptsRootOf(receipts: readonly Receipt[]): string {
  return rootOf(receipts.map(encodeReceipt), keccak);
}

function encodeReceipt(receipt: Receipt): Bytes {
  const { type = 0, root, status = 0, cumulativeGasUsed, logsBloom, logs } = receipt;
  const { depositNonce = 0, depositReceiptVersion } = receipt;
  // Before the version was introduced (Canyon), the root did not cover the nonce either.
  const deposit = type === DEPOSIT && depositReceiptVersion ? [depositNonce, depositReceiptVersion] : [];
  const body = Rlp.fromBytes([
    root === undefined ? numberBytes(status) : hexBytes(root),
    numberBytes(cumulativeGasUsed),
    hexBytes(logsBloom),
    logs.map(({ address, topics, data }) => [hexBytes(address), topics.map(hexBytes), hexBytes(data)]),
    ...deposit.map(numberBytes),
  ]);
  return type === 0 ? body : Buffer.concat([Uint8Array.of(type), body]);
}

function rootOf(values: readonly Bytes[], hash: Keccak): string {
  const entries = values.map((value, index) => ({
    path: nibblesOf(Rlp.fromBytes(numberBytes(index))),
    value,
  }));
  const node = entries.length === 0 ? EMPTY : buildNode(entries, 0, hash);
  return `0x${Buffer.from(hash(encode(node))).toString("hex")}`;
}

interface Entry {
  readonly path: readonly number[];
  readonly value: Bytes;
}

/** Builds the node of all entries, whose paths are equal up to `depth`. */
function buildNode(entries: readonly Entry[], depth: number, hash: Keccak): Node {
  const [first] = entries;
  if (!first) return EMPTY;
  if (entries.length === 1) return [compact(first.path.slice(depth), true), first.value];
  const shared = sharedDepth(entries, depth);
  if (shared > depth)
    return [compact(first.path.slice(depth, shared), false), refer(buildNode(entries, shared, hash), hash)];
  const branch: Node[] = Array.from({ length: 16 }, (_, nibble) => {
    const below = entries.filter(({ path }) => path[depth] === nibble);
    return below.length === 0 ? EMPTY : refer(buildNode(below, depth + 1, hash), hash);
  });
  return [...branch, entries.find(({ path }) => path.length === depth)?.value ?? EMPTY];
}

function sharedDepth(entries: readonly Entry[], depth: number): number {
  const [first] = entries;
  let shared = depth;
  while (first && entries.every(({ path }) => shared < path.length && path[shared] === first.path[shared]))
    shared += 1;
  return shared;
}

/** A parent refers to a node by hash, unless the node is shorter than that. */
function refer(node: Node, hash: Keccak): Node {
  const encoded = encode(node);
  return encoded.length < 32 ? node : hash(encoded);
}

/** Packs nibbles into bytes, prefixed with flags for an odd count and for the end of a path. */
function compact(nibbles: readonly number[], isEnd: boolean): Bytes {
  const flag = isEnd ? 2 : 0;
  const odd = nibbles.length % 2;
  const all = odd ? [flag + 1, ...nibbles] : [flag, 0, ...nibbles];
  return Uint8Array.from(
    { length: all.length / 2 },
    (_, at) => (all[2 * at] ?? 0) * 16 + (all[2 * at + 1] ?? 0),
  );
}

function nibblesOf(bytes: Bytes): number[] {
  return [...bytes].flatMap((byte) => [byte >> 4, byte & 15]);
}

function encode(node: Node): Bytes {
  return Rlp.fromBytes(node);
}

function hexBytes(hex: string): Bytes {
  return Buffer.from(hex.slice(2), "hex");
}

/** Big-endian without leading zeros; empty for zero. */
function numberBytes(value: number): Bytes {
  if (value === 0) return EMPTY;
  const hex = value.toString(16);
  return hexBytes(`0x${hex.length % 2 ? "0" : ""}${hex}`);
}
