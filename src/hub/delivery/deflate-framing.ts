import { DeflateCache, type DeflateCounts, deflateBlocks } from "./deflate-cache.ts";
import { FINAL_DEFLATED_TEXT, headerBytes, writeHeader } from "./frame-header.ts";
import type { FramedEvent, Framing } from "./framing.ts";
import { websocketFraming, writePlainEvent } from "./websocket-framing.ts";

/** Texts that are shorter stay plain: little can be saved on them. */
export const MIN_DEFLATED_BYTES = 256;
/** Larger ones too: they would hold up the event loop, this one for some 4 ms, and some clients refuse to inflate more than 4 MiB. */
export const MAX_DEFLATED_BYTES = 524_288;
/** Openings of messages up to here are not compressed: each client has its own. */
const MAX_STORED_BYTES = 1_024;
/** Most that the deflated forms of events take, with their texts: some minutes of a busy market, so that a herd that comes back shares them. */
const HELD_EVENT_BYTES = 8_388_608;
/** The same for snapshots, of which those of the state before are of no use any more. */
const HELD_SNAPSHOT_BYTES = 2_097_152;

/** Header of a stored block on a byte's boundary (RFC 1951, 3.2.4): its kind, its length twice. */
const STORED_HEADER_BYTES = 5;

function writeStoredHeader(target: Buffer, offset: number, bytes: number): number {
  target[offset] = 0;
  target.writeUInt16LE(bytes, offset + 1);
  return target.writeUInt16LE(0xffff - bytes, offset + 3);
}

/** A message's opening as blocks before those that are shared. */
function openingBlocks(opening: Buffer): Buffer {
  if (opening.length > MAX_STORED_BYTES) return deflateBlocks(opening);
  const block = Buffer.allocUnsafe(STORED_HEADER_BYTES + opening.length);
  opening.copy(block, writeStoredHeader(block, 0, opening.length));
  return block;
}

/**
 * WebSocket frames for connections that negotiated permessage-deflate without context takeover, and with the server's window at `WINDOW_BITS` or above. A
 * message is a stored block, with what differs between shapes, and deflated blocks that all share: so an event is compressed once however
 * many shapes and cursors there are, and a snapshot once per state. What would not be shared, or is too small to be worth it, stays plain.
 */
export function createDeflateFraming(counts: DeflateCounts): Framing {
  const events = new DeflateCache(HELD_EVENT_BYTES, counts);
  const snapshots = new DeflateCache(HELD_SNAPSHOT_BYTES, counts);

  return {
    name: "websocket-deflate",
    transport: "websocket",
    isDeflated: true,

    message(json, snapshot) {
      const isFit =
        snapshot !== undefined &&
        snapshot.length >= MIN_DEFLATED_BYTES &&
        snapshot.length <= MAX_DEFLATED_BYTES;
      const rest = isFit ? snapshots.take(snapshot, "", "}", STORED_HEADER_BYTES) : undefined;
      if (!rest) return websocketFraming.message(json, snapshot);
      const opening = openingBlocks(Buffer.from(`${json.slice(0, -1)},"snapshot":`));
      const payloadBytes = opening.length + rest.length;
      const frame = Buffer.allocUnsafe(headerBytes(payloadBytes) + payloadBytes);
      const offset = writeHeader(frame, 0, FINAL_DEFLATED_TEXT, payloadBytes);
      rest.copy(frame, offset + opening.copy(frame, offset));
      return frame;
    },

    events(given) {
      const rests = given.map((event) => deflatedRest(events, event));
      let total = 0;
      for (const [at, event] of given.entries()) {
        const payloadBytes = payloadOf(event, rests[at]);
        total += headerBytes(payloadBytes) + payloadBytes;
      }
      const frames = Buffer.allocUnsafe(total);
      let offset = 0;
      for (const [at, event] of given.entries()) {
        const rest = rests[at];
        offset = rest ? writeEvent(frames, offset, event, rest) : writePlainEvent(frames, offset, event);
      }
      return frames;
    },
  };
}

/** All but what is the shape's own; `undefined` where the event stays plain. */
function deflatedRest(texts: DeflateCache, { head, tail, isCommon }: FramedEvent): Buffer | undefined {
  const bytes = head.length + tail.length;
  // What a filter made is for few: a thousand filters would have a thousand texts compressed for one event.
  if (!isCommon || bytes < MIN_DEFLATED_BYTES || bytes > MAX_DEFLATED_BYTES) return undefined;
  return texts.take(tail, head, "", STORED_HEADER_BYTES);
}

function payloadOf({ own, head, tail }: FramedEvent, rest: Buffer | undefined): number {
  return rest ? STORED_HEADER_BYTES + own.length + rest.length : own.length + head.length + tail.length;
}

function writeEvent(frames: Buffer, offset: number, event: FramedEvent, rest: Buffer): number {
  const payload = writeHeader(frames, offset, FINAL_DEFLATED_TEXT, payloadOf(event, rest));
  const own = writeStoredHeader(frames, payload, event.own.length);
  const behind = own + frames.write(event.own, own, "latin1");
  return behind + rest.copy(frames, behind);
}
