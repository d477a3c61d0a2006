import type { LogRecord } from "./event-log.ts";

/**
 * Copies a tail out of Node's slab of 64 KiB, which is freed only with the last Buffer in it. When
 * one event in fifty was stored for a day, each held 22 kB for its 500 bytes.
 */
export function copyOutOfPool(record: LogRecord): LogRecord {
  const { tail } = record;
  if (tail.buffer.byteLength === tail.length) return record;
  const own = Buffer.allocUnsafeSlow(tail.length);
  tail.copy(own);
  return { ...record, tail: own };
}
