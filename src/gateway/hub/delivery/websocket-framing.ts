import { FINAL_TEXT, headerBytes, writeHeader } from "./frame-header.ts";
import { type FramedEvent, type Framing, withSnapshot } from "./framing.ts";

/** Builds unmasked text frames, so that one frame serves every socket. */
export const websocketFraming: Framing = {
  name: "websocket",
  transport: "websocket",
  isDeflated: false,

  message(json, snapshot) {
    const text = withSnapshot(json, snapshot);
    const payloadBytes = Buffer.byteLength(text);
    const frame = Buffer.allocUnsafe(headerBytes(payloadBytes) + payloadBytes);
    frame.write(text, writeHeader(frame, 0, FINAL_TEXT, payloadBytes));
    return frame;
  },

  events(events: readonly FramedEvent[]) {
    let total = 0;
    for (const { own, head, tail } of events) {
      const payloadBytes = own.length + head.length + tail.length;
      total += headerBytes(payloadBytes) + payloadBytes;
    }
    const frames = Buffer.allocUnsafe(total);
    let offset = 0;
    for (const event of events) offset = writePlainEvent(frames, offset, event);
    return frames;
  },
};

/** Writes one uncompressed event and returns the offset after it. */
export function writePlainEvent(frames: Buffer, offset: number, { own, head, tail }: FramedEvent): number {
  const payload = writeHeader(frames, offset, FINAL_TEXT, own.length + head.length + tail.length);
  const text = payload + frames.write(own, payload, "latin1");
  const rest = text + frames.write(head, text, "latin1");
  return rest + tail.copy(frames, rest);
}
