import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompressSync } from "node:zlib";
import { BoundedMap } from "../lib/bounded-map.ts";

/** A compressed snapshot, with the compressed keyframe that is its dictionary. */
export interface PackedMinute {
  readonly keyframeId: number;
  readonly keyframe: Uint8Array;
  readonly body: Uint8Array;
}

/** Expanded keyframes that are remembered: a program that replays the past reads an hour of one. */
const MAX_KEYFRAMES = 4;

// On the thread pool, as the event loop delivers events meanwhile.
const compress = promisify(zstdCompress);

/**
 * 190 kB of a busy simulated market become 13 kB with the minute of up to an hour before as the
 * dictionary, in 1.5 ms; alone 31 kB. Level 19 saves another seventh and takes 70 ms. Chains of
 * minutes save a fifth, but a read of the 60th would expand them all.
 */
const PARAMS = { [constants.ZSTD_c_compressionLevel]: 6, [constants.ZSTD_c_windowLog]: 22 };

export async function packText(text: Buffer, dictionary?: Buffer): Promise<Buffer> {
  return await compress(text, { params: PARAMS, ...(dictionary ? { dictionary } : {}) });
}

/**
 * Returns a function that expands snapshots of one store. Not on the thread pool: 0.2 ms for a busy
 * market is less than parsing takes, and a third of what a thread takes with the way to it.
 */
export function createUnpack(): (packed: PackedMinute) => Buffer {
  const keyframes = new BoundedMap<number, Buffer>(MAX_KEYFRAMES);
  return ({ keyframeId, keyframe, body }) => {
    const dictionary = keyframes.get(keyframeId) ?? zstdDecompressSync(keyframe);
    keyframes.set(keyframeId, dictionary);
    return zstdDecompressSync(body, { dictionary });
  };
}
