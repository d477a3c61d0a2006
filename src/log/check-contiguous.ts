import { FlarewireError } from "../protocol/index.ts";
import type { LogRecord } from "./event-log.ts";

/** Throws FlarewireError `invalid-input` unless the records are one whole batch and follow `head` without a gap. */
export function checkPlaces(records: readonly LogRecord[], head: number): void {
  const last = records.at(-1)?.seq;
  for (const [index, { seq, batch }] of records.entries()) {
    const expected = head + 1 + index;
    if (seq !== expected) throw misplaced(`event ${seq} stands where ${expected} has to`);
    if (batch !== last) throw misplaced(`event ${seq} is of the batch that ends with ${batch}, not ${last}`);
  }
}

function misplaced(message: string): FlarewireError {
  return new FlarewireError("invalid-input", message, { field: "seq" });
}
