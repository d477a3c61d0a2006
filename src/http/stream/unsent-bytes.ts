import type { Duplex } from "node:stream";

/**
 * What the kernel has not taken yet of the write in progress. `writableLength` counts that write whole until it is done, so that
 * a slow reader of one large snapshot would look frozen; Node itself tells the two apart by this number for `setTimeout`, and
 * has no public name for it. `undefined` where it is missing: then only whole writes count as progress.
 */
export function unsentBytes(raw: Duplex): number | undefined {
  const handle: unknown = Reflect.get(raw, "_handle");
  if (typeof handle !== "object" || handle === null) return undefined;
  const bytes: unknown = Reflect.get(handle, "writeQueueSize");
  return typeof bytes === "number" ? bytes : undefined;
}
