import { constants, deflateRawSync } from "node:zlib";

/** The window, as an exponent of 2 (RFC 7692, 7.1.2.1), by which the texts can be inflated. With 15 events take as many bytes, snapshots a tenth less. */
export const WINDOW_BITS = 12;

const OPTIONS = { windowBits: WINDOW_BITS, finishFlush: constants.Z_SYNC_FLUSH };

/** An empty stored block without its first byte: what a sync flush ends with, and what RFC 7692, 7.2.1, has cut off the end of a message. */
const FLUSH_BYTES = 4;

/** What an entry costs beside its bytes, about. */
const ENTRY_BYTES = 200;

interface Held {
  readonly before: string;
  /** `undefined`: not worth it. */
  readonly deflated: Buffer | undefined;
  readonly bytes: number;
}

/** What was compressed since the start. */
export interface DeflateCounts {
  /** Texts, each once however many were sent it. */
  deflatedTexts: number;
  /** Their bytes before. */
  deflatedFromBytes: number;
  /** Their bytes after. */
  deflatedToBytes: number;
}

/** The text as deflated blocks that stand on a byte's boundary, refer to nothing before them and end with a sync flush: any others can stand before and behind. */
export function deflateBlocks(text: Buffer): Buffer {
  return deflateRawSync(text, OPTIONS);
}

/**
 * Deflated forms of texts that many are sent, each made once for as long as it is held (law L6): the newest, up to a bound in bytes. Each is the end of
 * a message, whose beginning is another for everybody and so stands before it in a block that is not compressed.
 */
export class DeflateCache {
  readonly #held = new Map<Buffer | string, Held>();
  readonly #maxBytes: number;
  readonly #counts: DeflateCounts;
  #bytes = 0;

  constructor(maxBytes: number, counts: DeflateCounts) {
    this.#maxBytes = maxBytes;
    this.#counts = counts;
  }

  /**
   * `before`, `text` and `behind` joined, deflated, as a message's last blocks; `undefined` where that saves less than `overhead` bytes. `text` is the key: a
   * Buffer by its identity, so that it must not change, and a string by its value.
   */
  take(text: Buffer | string, before: string, behind: string, overhead: number): Buffer | undefined {
    const known = this.#held.get(text);
    if (known?.before === before) return known.deflated;
    const bytesOf = typeof text === "string" ? Buffer.from(text) : text;
    const whole = Buffer.concat([Buffer.from(before), bytesOf, Buffer.from(behind)]);
    const blocks = deflateBlocks(whole);
    const end = blocks.length - FLUSH_BYTES;
    this.#counts.deflatedTexts += 1;
    this.#counts.deflatedFromBytes += whole.length;
    this.#counts.deflatedToBytes += end;
    // Copied: what zlib gives is a part of a Buffer of 16 KiB.
    const deflated = end + overhead < whole.length ? Buffer.from(blocks.subarray(0, end)) : undefined;
    const bytes = text.length + (deflated?.length ?? 0) + ENTRY_BYTES;
    this.#forget(text);
    this.#held.set(text, { before, deflated, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#held.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#forget(oldest);
    }
    return deflated;
  }

  #forget(text: Buffer | string): void {
    this.#bytes -= this.#held.get(text)?.bytes ?? 0;
    this.#held.delete(text);
  }
}
