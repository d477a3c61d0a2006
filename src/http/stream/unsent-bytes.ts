import type { Duplex } from "node:stream";

/**
 * Returns the bytes of the current write that the kernel has not taken yet. `writableLength` counts
 * the write completely until it is done, so a slow reader of a large snapshot would look frozen.
 * Node uses this number for `setTimeout` and has no public name for it. If it is missing, returns
 * `undefined`: then only complete writes count as progress.
 */
export function unsentBytes(raw: Duplex): number | undefined {
  const handle: unknown = Reflect.get(raw, "_handle");
  if (typeof handle !== "object" || handle === null) return undefined;
  const bytes: unknown = Reflect.get(handle, "writeQueueSize");
  return typeof bytes === "number" ? bytes : undefined;
}
