import { setTimeout as passing } from "node:timers/promises";
import { openControl, sayReady } from "../harness/control-port.ts";

/** Memory of a process after a full garbage collection, in bytes. */
export interface Held {
  readonly rss: number;
  readonly heap: number;
  /** Buffers and other memory outside the heap, as far as V8 counts it. */
  readonly external: number;
}

/** Collects garbage until memory no longer shrinks. Needs `--expose-gc`. */
async function held(): Promise<Held> {
  const { gc } = globalThis;
  if (!gc) throw new Error("run it with --expose-gc");
  // More than once, because objects that finalizers release are garbage only after they ran.
  for (let round = 0; round < 4; round += 1) {
    // This kind of collection also frees half-used pages.
    gc({ type: "major", execution: "sync", flavor: "last-resort" });
    await passing(20);
  }
  const { rss, heapUsed: heap, external } = process.memoryUsage();
  return { rss, heap, external };
}

/**
 * Reports where the server listens, and responds to `{ "do": "held" }` with {@link Held}. Passes
 * other orders to `obey`.
 */
export async function serveHeld(
  port: number,
  obey: (order: unknown) => unknown = () => undefined,
): Promise<void> {
  const configure = async (order: unknown) =>
    typeof order === "object" && order !== null && "do" in order && order.do === "held"
      ? held()
      : obey(order);
  sayReady(port, await openControl({ publish: () => 0, configure }));
}
