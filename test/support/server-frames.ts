import { constants, inflateRawSync } from "node:zlib";

/** A frame as a server sends it: whole, and not masked. */
export interface ServerFrame {
  readonly opcode: number;
  /** RSV1: its payload was compressed. */
  readonly isDeflated: boolean;
  /** As it was before it was compressed. */
  readonly payload: Buffer;
  /** Bytes of the frame on the wire. */
  readonly bytes: number;
}

/** What RFC 7692, 7.2.2, puts behind a message before it is inflated. */
const CUT_OFF = Buffer.from([0, 0, 0xff, 0xff]);

/**
 * Reads what RFC 6455, 5.2, and RFC 7692 say of frames, in a window of this many bits; throws on
 * anything else, and where the last one is cut short unless `mayBeCut`: then that one is left out.
 */
export function readServerFrames(bytes: Buffer, windowBits = 12, mayBeCut = false): readonly ServerFrame[] {
  const frames: ServerFrame[] = [];
  for (let at = 0; at < bytes.length; at += frames.at(-1)?.bytes ?? 0) {
    const first = bytes.readUInt8(at);
    if ((first & 0xb0) !== 0x80) throw new Error(`not a final frame, or a reserved bit, at ${at}`);
    const [length, header] = lengthAt(bytes, at + 1);
    const begin = at + 1 + header;
    if (begin + length > bytes.length) {
      if (mayBeCut) return frames;
      throw new Error("a frame cut short");
    }
    const sent = bytes.subarray(begin, begin + length);
    const isDeflated = (first & 0x40) !== 0;
    const payload = isDeflated ? inflate(sent, windowBits) : sent;
    frames.push({ opcode: first & 0x0f, isDeflated, payload, bytes: 1 + header + length });
  }
  return frames;
}

/** The texts of frames that have to be text, in UTF-8. */
export function textsOf(frames: readonly ServerFrame[]): readonly string[] {
  return frames.map(({ opcode, payload }) => {
    if (opcode !== 1) throw new Error(`a frame with opcode ${opcode} in place of text`);
    return new TextDecoder("utf-8", { fatal: true }).decode(payload);
  });
}

/** The payload's length, and the bytes that say it; Infinity where they are not all there. */
function lengthAt(bytes: Buffer, at: number): readonly [length: number, bytes: number] {
  const short = bytes[at] ?? 0;
  const needed = short < 126 ? 1 : short === 126 ? 3 : 9;
  if (at + needed > bytes.length) return [Number.POSITIVE_INFINITY, needed];
  if (short > 127) throw new Error("a masked frame");
  if (short < 126) return [short, needed];
  const length = short === 126 ? bytes.readUInt16BE(at + 1) : Number(bytes.readBigUInt64BE(at + 1));
  if (length < (short === 126 ? 126 : 65_536)) throw new Error("a length in more bytes than it needs");
  return [length, needed];
}

function inflate(sent: Buffer, windowBits: number): Buffer {
  // The small chunk makes the window count: what is further back is no longer there.
  return inflateRawSync(Buffer.concat([sent, CUT_OFF]), {
    ...{ windowBits, chunkSize: 64 },
    finishFlush: constants.Z_SYNC_FLUSH,
  });
}
