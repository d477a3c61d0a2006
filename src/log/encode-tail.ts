import type { EventBody } from "../protocol/index.ts";

/**
 * Encodes an event's body as the end of its frame: JSON text in UTF-8 without the opening brace,
 * with the fields in the order `name`, `channel`, `observed_at`, `data`.
 */
export function encodeTail({ name, channel, observed_at, data }: EventBody): Buffer {
  return Buffer.from(JSON.stringify({ name, channel, observed_at, data }).slice(1));
}

/** Decodes the result of {@link encodeTail}. */
export function decodeTail(tail: Buffer): EventBody {
  return JSON.parse(`{${tail.toString()}`) as EventBody;
}
