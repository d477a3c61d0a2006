import { keccak256, toRlp } from "viem/utils";
import type { Receipt } from "../evm-block.ts";

/*
 * The root of the receipts stands in the block's header, and so in the block's hash: whoever alters, adds or leaves out a single log cannot keep it. It is
 * the root of a Merkle Patricia trie from the RLP of an index to the receipt (Ethereum yellow paper, section 4.3.2 and appendix D; EIP-2718 for the type
 * in front).
 */

type Bytes = Uint8Array;
type Rlp = Bytes | readonly Rlp[];

const EMPTY = new Uint8Array();

/**
 * How many of the receipts, from the first on, are what the root is made of; −1 where they are not. All of them, or, on a chain that adds
 * receipts of its own behind those of the block (Polygon's state syncs, before they were part of it), all but the last.
 */
export function countProved(receipts: readonly Receipt[], root: string): number {
  const encoded = receipts.map(encodeReceipt);
  if (rootOf(encoded) === root) return encoded.length;
  const last = receipts.at(-1);
  const isAdded = last !== undefined && last.from === `0x${"0".repeat(40)}`;
  return isAdded && rootOf(encoded.slice(0, -1)) === root ? encoded.length - 1 : -1;
}

function encodeReceipt({ type = 0, root, status = 0, cumulativeGasUsed, logsBloom, logs }: Receipt): Bytes {
  const body = toRlp(
    [
      root === undefined ? numberBytes(status) : hexBytes(root),
      numberBytes(cumulativeGasUsed),
      hexBytes(logsBloom),
      logs.map(({ address, topics, data }) => [hexBytes(address), topics.map(hexBytes), hexBytes(data)]),
    ],
    "bytes",
  );
  return type === 0 ? body : Buffer.concat([Uint8Array.of(type), body]);
}

function rootOf(values: readonly Bytes[]): string {
  const entries = values.map((value, index) => ({
    path: nibblesOf(toRlp(numberBytes(index), "bytes")),
    value,
  }));
  const node = entries.length === 0 ? EMPTY : buildNode(entries, 0);
  return keccak256(encode(node));
}

interface Entry {
  readonly path: readonly number[];
  readonly value: Bytes;
}

/** The node of all entries, whose paths are one up to `depth`. */
function buildNode(entries: readonly Entry[], depth: number): Rlp {
  const [first] = entries;
  if (!first) return EMPTY;
  if (entries.length === 1) return [compact(first.path.slice(depth), true), first.value];
  const shared = sharedDepth(entries, depth);
  if (shared > depth)
    return [compact(first.path.slice(depth, shared), false), refer(buildNode(entries, shared))];
  const branch: Rlp[] = Array.from({ length: 16 }, (_, nibble) => {
    const below = entries.filter(({ path }) => path[depth] === nibble);
    return below.length === 0 ? EMPTY : refer(buildNode(below, depth + 1));
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

/** A node stands in its parent by its hash, unless it is shorter than that. */
function refer(node: Rlp): Rlp {
  const encoded = encode(node);
  return encoded.length < 32 ? node : keccak256(encoded, "bytes");
}

/** Nibbles as bytes, with a flag for an odd number of them and for the end of a path in front. */
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

function encode(node: Rlp): Bytes {
  return toRlp(node, "bytes");
}

function hexBytes(hex: string): Bytes {
  return Buffer.from(hex.slice(2), "hex");
}

/** Big-endian without zeros in front; nothing for zero. */
function numberBytes(value: number): Bytes {
  if (value === 0) return EMPTY;
  const hex = value.toString(16);
  return hexBytes(`0x${hex.length % 2 ? "0" : ""}${hex}`);
}
