import { beforeLists, type FramedEvent, type Framing } from "./framing.ts";

/** Builds unmasked text frames, so that one frame serves every socket. */
export const websocketFraming: Framing = {
  name: "websocket",
  transport: "websocket",
  isDeflated: false,

  message: (json) => frameText(json, 0),

  withLists: (json, end) => [frameText(beforeLists(json), end.length), end],

  events(events: readonly FramedEvent[]) {
    let total = 0;
    for (const { own, head, encoded } of events) {
      const payloadBytes = own.length + head.length + encoded.length;
      total += headerBytes(payloadBytes) + payloadBytes;
    }
    const frames = Buffer.allocUnsafe(total);
    let offset = 0;
    for (const event of events) offset = writePlainEvent(frames, offset, event);
    return frames;
  },
};

/** Frames a text, of whose payload `rest` bytes follow. */
function frameText(text: string, rest: number): Buffer {
  const bytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(headerBytes(bytes + rest) + bytes);
  frame.write(text, writeHeader(frame, 0, FINAL_TEXT, bytes + rest));
  return frame;
}

/** Writes one uncompressed event and returns the offset after it. */
export function writePlainEvent(frames: Buffer, offset: number, { own, head, encoded }: FramedEvent): number {
  const payload = writeHeader(frames, offset, FINAL_TEXT, own.length + head.length + encoded.length);
  const text = payload + frames.write(own, payload, "latin1");
  const rest = text + frames.write(head, text, "latin1");
  return rest + encoded.copy(frames, rest);
}

/** First byte of an unfragmented text message: FIN and opcode 1 (RFC 6455, 5.2). */
export const FINAL_TEXT = 0x81;
/** The same with RSV1: a compressed payload (RFC 7692, 6). */
export const FINAL_DEFLATED_TEXT = 0xc1;

const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** Size of a payload's header. Server frames are unmasked, so one header serves all clients. */
export function headerBytes(payloadBytes: number): number {
  if (payloadBytes < LENGTH_16) return 2;
  return payloadBytes < 65_536 ? 4 : 10;
}

/** Writes that header and returns the offset after it. */
export function writeHeader(target: Buffer, offset: number, first: number, payloadBytes: number): number {
  target[offset] = first;
  if (payloadBytes < LENGTH_16) return target.writeUInt8(payloadBytes, offset + 1);
  if (payloadBytes < 65_536) {
    target[offset + 1] = LENGTH_16;
    return target.writeUInt16BE(payloadBytes, offset + 2);
  }
  target[offset + 1] = LENGTH_64;
  target.writeUInt16BE(0, offset + 2);
  return target.writeUIntBE(payloadBytes, offset + 4, 6);
}
