import { constants, deflateRawSync } from "node:zlib";
import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import { copyOutOfPool } from "../../log/event-log.ts";

/**
 * Base-2 logarithm of the window size. A value of 15 would shrink snapshots by another tenth, and
 * events not at all.
 */
export const WINDOW_BITS = 12;

const OPTIONS = { windowBits: WINDOW_BITS, finishFlush: constants.Z_SYNC_FLUSH };

/** Length of the end of a sync flush, 00 00 FF FF, which RFC 7692, 7.2.1, removes. */
const FLUSH_BYTES = 4;

/** Approximate overhead of a cache entry. */
const ENTRY_BYTES = 200;

interface CacheEntry {
  readonly before: string;
  /** `undefined` if compression does not pay off. */
  readonly deflated: Buffer | undefined;
}

/** Compression statistics since the start. */
export interface DeflateCounts {
  /**
   * Texts compressed, regardless of how many clients receive each. Includes texts sent uncompressed
   * because compression did not pay off.
   */
  deflatedTexts: number;
  /** Their size before compression. */
  deflatedFromBytes: number;
  deflatedToBytes: number;
}

/** Compresses a text into byte-aligned deflate blocks that refer to nothing before them. */
export function deflateBlocks(text: Buffer): Buffer {
  return deflateRawSync(text, OPTIONS);
}

/**
 * Caches the compressed ends of messages, up to a size limit (law L6 in src/README.md). An end
 * follows an opening that differs per client or shape and is not cached.
 */
export class DeflateCache {
  readonly #entries: BoundedMap<Buffer, CacheEntry>;
  readonly #counts: DeflateCounts;

  constructor(maxBytes: number, counts: DeflateCounts) {
    const bytesOf = ({ deflated }: CacheEntry, text: Buffer) =>
      text.length + (deflated?.length ?? 0) + ENTRY_BYTES;
    this.#entries = new BoundedMap(maxBytes, bytesOf);
    this.#counts = counts;
  }

  /**
   * Returns `before` and `text`, joined and compressed, or `undefined` if that saves no more than
   * `overhead` bytes. `text` must not change: the same Buffer gives the cached result.
   */
  take(text: Buffer, before: string, overhead: number): Buffer | undefined {
    const cached = this.#entries.get(text);
    if (cached?.before === before) return cached.deflated;
    const joined = Buffer.concat([Buffer.from(before), text]);
    const blocks = deflateBlocks(joined);
    const end = blocks.length - FLUSH_BYTES;
    this.#counts.deflatedTexts += 1;
    this.#counts.deflatedFromBytes += joined.length;
    this.#counts.deflatedToBytes += end;
    // zlib returns a slice of a 16 KiB Buffer.
    const deflated = end + overhead < joined.length ? copyOutOfPool(blocks.subarray(0, end)) : undefined;
    this.#entries.set(text, { before, deflated });
    return deflated;
  }
}
