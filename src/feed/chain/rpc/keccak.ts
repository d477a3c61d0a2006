import { getHashes, hash } from "node:crypto";
import { keccak256 as portable } from "viem";

/** Returns the 32 bytes of a keccak-256 hash. */
export type Keccak = (bytes: Uint8Array) => Uint8Array;

/** Works on every Node, but takes ten times as long. */
export const portableKeccak: Keccak = (bytes) => portable(bytes, "bytes");

const nativeKeccak: Keccak = (bytes) => hash("keccak-256", bytes, "buffer");

/** Hashes natively where Node's OpenSSL has it (3.2 or later, so Node 26 but not Node 22). */
export const keccak: Keccak = getHashes().includes("keccak-256") ? nativeKeccak : portableKeccak;
