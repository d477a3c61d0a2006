import type { FramedEvent, Framing } from "./framing.ts";

/** FIN and opcode 1: a whole text message (RFC 6455, 5.2). What a server sends is not masked, so one frame serves every client. */
const FINAL_TEXT = 0x81;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

function headerBytes(payloadBytes: number): number {
  if (payloadBytes < LENGTH_16) return 2;
  return payloadBytes < 65_536 ? 4 : 10;
}

/** Writes the header of a text frame; returns the offset behind it. */
function writeHeader(target: Buffer, offset: number, payloadBytes: number): number {
  target[offset] = FINAL_TEXT;
  if (payloadBytes < LENGTH_16) return target.writeUInt8(payloadBytes, offset + 1);
  if (payloadBytes < 65_536) {
    target[offset + 1] = LENGTH_16;
    return target.writeUInt16BE(payloadBytes, offset + 2);
  }
  target[offset + 1] = LENGTH_64;
  target.writeUInt16BE(0, offset + 2);
  return target.writeUIntBE(payloadBytes, offset + 4, 6);
}

/** Unmasked text frames, written by hand: building a frame once and giving the same Buffer to every socket is what makes fan-out cheap. */
export const websocketFraming: Framing = {
  name: "websocket",

  message(json) {
    const payloadBytes = Buffer.byteLength(json);
    const frame = Buffer.allocUnsafe(headerBytes(payloadBytes) + payloadBytes);
    frame.write(json, writeHeader(frame, 0, payloadBytes));
    return frame;
  },

  events(events: readonly FramedEvent[]) {
    let total = 0;
    for (const { head, tail } of events) {
      const payloadBytes = head.length + tail.length;
      total += headerBytes(payloadBytes) + payloadBytes;
    }
    const frames = Buffer.allocUnsafe(total);
    let offset = 0;
    for (const { head, tail } of events) {
      offset = writeHeader(frames, offset, head.length + tail.length);
      offset += frames.write(head, offset, "latin1");
      offset += tail.copy(frames, offset);
    }
    return frames;
  },
};
