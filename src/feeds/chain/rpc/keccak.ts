import { getHashes, hash } from "node:crypto";
import { keccak256 } from "ox/Hash";

/** Returns the 32 bytes of a keccak-256 hash. */
export type Keccak = (bytes: Uint8Array) => Uint8Array;

/** Works in every version of Node, but takes ten times as long. */
export const portableKeccak: Keccak = (bytes) => keccak256(bytes, { as: "Bytes" });

const nativeKeccak: Keccak = (bytes) => hash("keccak-256", bytes, "buffer");

/** Native if Node's OpenSSL has the hash (3.2 or later, so in Node 26 but not in Node 22). */
export const keccak: Keccak = getHashes().includes("keccak-256") ? nativeKeccak : portableKeccak;
