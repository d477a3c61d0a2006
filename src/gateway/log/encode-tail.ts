import type { EventBody } from "../../base/protocol/index.ts";

/** Encodes a body as a frame's end: UTF-8 JSON without the opening brace, fields in this order. */
export function encodeTail({ name, channel, observed_at, data }: EventBody): Buffer {
  return Buffer.from(JSON.stringify({ name, channel, observed_at, data }).slice(1));
}

/** Decodes the result of {@link encodeTail}. */
export function decodeTail(tail: Buffer): EventBody {
  return JSON.parse(`{${tail.toString()}`) as EventBody;
}
