import { constants, deflateRawSync } from "node:zlib";

/** Window as an exponent of 2 (RFC 7692, 7.1.2.1). 15 would only make snapshots a tenth shorter. */
export const WINDOW_BITS = 12;

const OPTIONS = { windowBits: WINDOW_BITS, finishFlush: constants.Z_SYNC_FLUSH };

/** A sync flush's empty stored block, without its first byte, as RFC 7692, 7.2.1, removes it. */
const FLUSH_BYTES = 4;

/** Approximate overhead of a cache entry. */
const ENTRY_BYTES = 200;

interface CacheEntry {
  readonly before: string;
  /** `undefined` if compression does not pay off. */
  readonly deflated: Buffer | undefined;
  readonly bytes: number;
}

/** Compression statistics since the start. */
export interface DeflateCounts {
  /** Compressed texts, each counted once, however many clients receive it. */
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
 * Caches the compressed tails of messages, each once (law L6), up to a size limit. The beginning
 * differs per client and precedes it as an uncompressed block.
 */
export class DeflateCache {
  readonly #entries = new Map<Buffer | string, CacheEntry>();
  readonly #maxBytes: number;
  readonly #counts: DeflateCounts;
  #bytes = 0;

  constructor(maxBytes: number, counts: DeflateCounts) {
    this.#maxBytes = maxBytes;
    this.#counts = counts;
  }

  /**
   * Returns `before`, `text` and `after`, joined and compressed, or `undefined` if that saves less
   * than `overhead` bytes. `text` is the key: a string by value, an unchanging Buffer by identity.
   */
  take(text: Buffer | string, before: string, after: string, overhead: number): Buffer | undefined {
    const cached = this.#entries.get(text);
    if (cached?.before === before) return cached.deflated;
    const bytesOf = typeof text === "string" ? Buffer.from(text) : text;
    const joined = Buffer.concat([Buffer.from(before), bytesOf, Buffer.from(after)]);
    const blocks = deflateBlocks(joined);
    const end = blocks.length - FLUSH_BYTES;
    this.#counts.deflatedTexts += 1;
    this.#counts.deflatedFromBytes += joined.length;
    this.#counts.deflatedToBytes += end;
    // Copy it: zlib returns a slice of a 16 KiB Buffer.
    const deflated = end + overhead < joined.length ? Buffer.from(blocks.subarray(0, end)) : undefined;
    const bytes = text.length + (deflated?.length ?? 0) + ENTRY_BYTES;
    this.#evict(text);
    this.#entries.set(text, { before, deflated, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#evict(oldest);
    }
    return deflated;
  }

  #evict(text: Buffer | string): void {
    this.#bytes -= this.#entries.get(text)?.bytes ?? 0;
    this.#entries.delete(text);
  }
}
