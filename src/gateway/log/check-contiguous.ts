import { FlarewireError } from "../../base/protocol/index.ts";
import type { LogRecord } from "./event-log.ts";

/** Throws `invalid-input` unless the records are one complete batch right after `head`, or none. */
export function checkContiguous(records: readonly LogRecord[], head: number): void {
  const last = records.at(-1)?.seq;
  for (const [index, { seq, batch }] of records.entries()) {
    const expected = head + 1 + index;
    if (seq !== expected) throw outOfOrder(`seq is ${seq}; it must be ${expected}`);
    if (batch !== last) throw outOfOrder(`event ${seq} has batch ${batch}; it must be ${last}`);
  }
}

function outOfOrder(message: string): FlarewireError {
  return new FlarewireError("invalid-input", message, { field: "seq" });
}
