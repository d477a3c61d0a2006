import { constants, inflateRawSync } from "node:zlib";

/** A frame from a server: final and unmasked. */
export interface ServerFrame {
  readonly opcode: number;
  /** RSV1: the payload was compressed. */
  readonly isDeflated: boolean;
  /** The payload after decompression. */
  readonly payload: Buffer;
  /** Size of the frame on the wire. */
  readonly bytes: number;
}

/** The bytes that RFC 7692, 7.2.2, appends to a message before it is decompressed. */
const FLUSH_TAIL = Buffer.from([0, 0, 0xff, 0xff]);

/**
 * Parses frames by RFC 6455, 5.2, and RFC 7692. Throws on anything else.
 * @param windowBits Size of the compression window.
 * @param mayBeCut Skips an incomplete last frame instead of throwing.
 */
export function readServerFrames(bytes: Buffer, windowBits = 12, mayBeCut = false): readonly ServerFrame[] {
  const frames: ServerFrame[] = [];
  for (let at = 0; at < bytes.length; at += frames.at(-1)?.bytes ?? 0) {
    const first = bytes.readUInt8(at);
    if ((first & 0xb0) !== 0x80)
      throw new Error(`the frame at byte ${at} is not final or has a reserved bit`);
    const [length, header] = lengthAt(bytes, at + 1);
    const begin = at + 1 + header;
    if (begin + length > bytes.length) {
      if (mayBeCut) return frames;
      throw new Error("the last frame is incomplete");
    }
    const sent = bytes.subarray(begin, begin + length);
    const isDeflated = (first & 0x40) !== 0;
    const payload = isDeflated ? inflate(sent, windowBits) : sent;
    frames.push({ opcode: first & 0x0f, isDeflated, payload, bytes: 1 + header + length });
  }
  return frames;
}

/** Returns the texts of frames. Throws unless all are text in UTF-8. */
export function textsOf(frames: readonly ServerFrame[]): readonly string[] {
  return frames.map(({ opcode, payload }) => {
    if (opcode !== 1) throw new Error(`expected a text frame; found opcode ${opcode}`);
    return new TextDecoder("utf-8", { fatal: true }).decode(payload);
  });
}

/**
 * Returns the payload's length, or Infinity if its bytes are incomplete, and the size of the
 * length.
 */
function lengthAt(bytes: Buffer, at: number): readonly [length: number, bytes: number] {
  const short = bytes[at] ?? 0;
  const needed = short < 126 ? 1 : short === 126 ? 3 : 9;
  if (at + needed > bytes.length) return [Number.POSITIVE_INFINITY, needed];
  if (short > 127) throw new Error("the frame is masked");
  if (short < 126) return [short, needed];
  const length = short === 126 ? bytes.readUInt16BE(at + 1) : Number(bytes.readBigUInt64BE(at + 1));
  if (length < (short === 126 ? 126 : 65_536)) throw new Error("the length is not in its shortest form");
  return [length, needed];
}

function inflate(sent: Buffer, windowBits: number): Buffer {
  // The small chunk makes the window size effective: data further back is not available.
  return inflateRawSync(Buffer.concat([sent, FLUSH_TAIL]), {
    ...{ windowBits, chunkSize: 64 },
    finishFlush: constants.Z_SYNC_FLUSH,
  });
}
