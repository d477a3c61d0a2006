import { DeflateCache, type DeflateCounts, deflateBlocks } from "./deflate-cache.ts";
import { beforeLists, type FramedEvent, type Framing } from "./framing.ts";
import {
  FINAL_DEFLATED_TEXT,
  headerBytes,
  websocketFraming,
  writeHeader,
  writePlainEvent,
} from "./websocket-framing.ts";

/** Shorter texts stay uncompressed: they would save little. */
const MIN_DEFLATED_BYTES = 256;
/** Larger texts stay uncompressed: a text of this size takes 4 ms. */
const MAX_DEFLATED_BYTES = 524_288;
/**
 * A message's opening up to this size is stored uncompressed: each client has a different one, so
 * compression costs more than it saves.
 */
const MAX_STORED_BYTES = 1_024;
/** Cache size for events: several minutes of a busy market, for clients that resume together. */
const EVENT_CACHE_BYTES = 8_388_608;
/** Cache size for snapshots. Those of earlier states are never needed again. */
const SNAPSHOT_CACHE_BYTES = 2_097_152;

/**
 * Size of a stored block's header (RFC 1951, 3.2.4): its type, its length, and the complement of
 * that.
 */
const STORED_HEADER_BYTES = 5;

function writeStoredHeader(target: Buffer, offset: number, bytes: number): number {
  target[offset] = 0;
  target.writeUInt16LE(bytes, offset + 1);
  return target.writeUInt16LE(0xffff - bytes, offset + 3);
}

/** Converts a message's opening to blocks, which precede the shared ones. */
function openingBlocks(opening: Buffer): Buffer {
  if (opening.length > MAX_STORED_BYTES) return deflateBlocks(opening);
  const block = Buffer.allocUnsafe(STORED_HEADER_BYTES + opening.length);
  opening.copy(block, writeStoredHeader(block, 0, opening.length));
  return block;
}

/**
 * Frames messages for permessage-deflate without context takeover, with a window of `WINDOW_BITS`
 * or more. The opening of a compressed message, which clients do not share, has separate blocks,
 * stored uncompressed if they are short. Shared compressed blocks follow. So an event is compressed
 * once for all shapes and cursors, and a snapshot's text once.
 */
export function createDeflateFraming(counts: DeflateCounts): Framing {
  const events = new DeflateCache(EVENT_CACHE_BYTES, counts);
  const snapshots = new DeflateCache(SNAPSHOT_CACHE_BYTES, counts);

  return {
    name: "websocket-deflate",
    transport: "websocket",
    isDeflated: true,

    message: websocketFraming.message,

    withLists(json, end) {
      const isCompressible = end.length > MIN_DEFLATED_BYTES && end.length <= MAX_DEFLATED_BYTES;
      const rest = isCompressible ? snapshots.take(end, "", STORED_HEADER_BYTES) : undefined;
      if (!rest) return websocketFraming.withLists(json, end);
      const blocks = openingBlocks(Buffer.from(beforeLists(json)));
      const payloadBytes = blocks.length + rest.length;
      const opening = Buffer.allocUnsafe(headerBytes(payloadBytes) + blocks.length);
      blocks.copy(opening, writeHeader(opening, 0, FINAL_DEFLATED_TEXT, payloadBytes));
      return [opening, rest];
    },

    events(framed) {
      const rests = framed.map((event) => deflatedRest(events, event));
      let total = 0;
      for (const [at, event] of framed.entries()) {
        const payloadBytes = payloadOf(event, rests[at]);
        total += headerBytes(payloadBytes) + payloadBytes;
      }
      const frames = Buffer.allocUnsafe(total);
      let offset = 0;
      for (const [at, event] of framed.entries()) {
        const rest = rests[at];
        offset = rest ? writeEvent(frames, offset, event, rest) : writePlainEvent(frames, offset, event);
      }
      return frames;
    },
  };
}

/** Compresses everything but the shape's own part; `undefined` if the event stays uncompressed. */
function deflatedRest(texts: DeflateCache, { head, encoded, isCommon }: FramedEvent): Buffer | undefined {
  const bytes = head.length + encoded.length;
  // Few clients share a filter's output: a thousand filters would compress an event 1,000 times.
  if (!isCommon || bytes < MIN_DEFLATED_BYTES || bytes > MAX_DEFLATED_BYTES) return undefined;
  return texts.take(encoded, head, STORED_HEADER_BYTES);
}

function payloadOf({ own, head, encoded }: FramedEvent, rest: Buffer | undefined): number {
  return rest ? STORED_HEADER_BYTES + own.length + rest.length : own.length + head.length + encoded.length;
}

function writeEvent(frames: Buffer, offset: number, event: FramedEvent, rest: Buffer): number {
  const payload = writeHeader(frames, offset, FINAL_DEFLATED_TEXT, payloadOf(event, rest));
  const own = writeStoredHeader(frames, payload, event.own.length);
  const end = own + frames.write(event.own, own, "latin1");
  return end + rest.copy(frames, end);
}
