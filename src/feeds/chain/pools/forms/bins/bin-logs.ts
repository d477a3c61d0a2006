import { countWords, type EvmLog, readUint } from "../../evm-log.ts";
import type { BinMove } from "../pool-log.ts";

/** The highest id of a bin. */
export const MAX_ID = (1n << 24n) - 1n;
const WORD_BYTES = 32n;

/** Returns the two amounts in a word. Token 0 (X) is in the low half. */
export function unpack(word: bigint): readonly [bigint, bigint] {
  return [BigInt.asUintN(128, word), word >> 128n];
}

/** Reads the bins that makers fill or empty: two lists, of ids and of packed amounts. */
export function readBinMove(
  log: EvmLog,
  form: BinMove["form"],
  sign: 1n | -1n,
  amountsWord: number,
): BinMove | undefined {
  const words = countWords(log.data);
  const ids = readList(log.data, words, 0);
  const amounts = readList(log.data, words, amountsWord);
  if (log.topics.length !== 3 || !ids || ids.length !== amounts?.length) return undefined;
  if (ids.some((id) => id > MAX_ID)) return undefined;
  const changes = ids.map((id, index) => {
    const [first, second] = unpack(amounts[index] ?? 0n);
    return { id: Number(id), amounts: [sign * first, sign * second] as const };
  });
  return { kind: "bins", form, isAdded: sign > 0n, changes };
}

/** Reads a list whose offset is in a word; `undefined` if it does not fit the data. */
function readList(data: string, words: number, offsetWord: number): readonly bigint[] | undefined {
  if (words <= offsetWord) return undefined;
  const offset = readUint(data, offsetWord);
  const at = offset / WORD_BYTES;
  if (offset % WORD_BYTES !== 0n || at >= BigInt(words)) return undefined;
  const start = Number(at) + 1;
  const length = readUint(data, start - 1);
  if (length > BigInt(words - start)) return undefined;
  return Array.from({ length: Number(length) }, (_, index) => readUint(data, start + index));
}
