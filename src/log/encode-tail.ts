import type { EventBody } from "../protocol/index.ts";

/** The body as every frame ends: its JSON text in UTF-8, without the opening brace, fields in the order `name`, `channel`, `observed_at`, `data`. */
export function encodeTail({ name, channel, observed_at, data }: EventBody): Buffer {
  return Buffer.from(JSON.stringify({ name, channel, observed_at, data }).slice(1));
}

/** The body that {@link encodeTail} made this of. */
export function decodeTail(tail: Buffer): EventBody {
  return JSON.parse(`{${tail.toString()}`) as EventBody;
}
