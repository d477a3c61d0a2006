/** A log of a final block, with its transaction's sender. Hexadecimal text is lower case. */
export interface EvmLog {
  /** The contract that emitted it. */
  readonly address: string;
  /** Up to four words of 32 bytes; the first names the event. */
  readonly topics: readonly string[];
  readonly data: string;
  /** Its index within the block. */
  readonly logIndex: number;
  readonly transactionHash: string;
  /** Signer of the transaction: a trader, or a relayer for traders (see people.ts). */
  readonly origin: string;
}

const WORD = 64;

/** Returns the number of 32-byte words in the data; −1 if the last one is incomplete. */
export function countWords(data: string): number {
  const digits = data.length - 2;
  return digits % WORD === 0 ? digits / WORD : -1;
}

/**
 * Reads a word as an unsigned number. Throws if the data has no such word: check its size first.
 */
export function readUint(data: string, index: number): bigint {
  const from = 2 + index * WORD;
  return BigInt(`0x${data.slice(from, from + WORD)}`);
}

/** Reads a word as a signed number in two's complement. */
export function readInt(data: string, index: number): bigint {
  return BigInt.asIntN(256, readUint(data, index));
}

const SIGN_DIGITS = 58;
const POSITIVE = "0".repeat(SIGN_DIGITS);
const NEGATIVE = "f".repeat(SIGN_DIGITS);

/** Reads a word as a signed number of 24 bits; `undefined` if it does not fit. */
export function readInt24(data: string, index: number): number | undefined {
  const from = 2 + index * WORD;
  const low = Number.parseInt(data.slice(from + SIGN_DIGITS, from + WORD), 16);
  const value = low < 2 ** 23 ? low : low - 2 ** 24;
  return data.startsWith(value < 0 ? NEGATIVE : POSITIVE, from) ? value : undefined;
}

const PADDING = "0".repeat(24);

/** Reads the address in a word; `undefined` if the upper twelve bytes are missing or not zero. */
export function readAddress(data: string, index: number): string | undefined {
  const from = 2 + index * WORD;
  return data.startsWith(PADDING, from) ? `0x${data.slice(from + 24, from + WORD)}` : undefined;
}
