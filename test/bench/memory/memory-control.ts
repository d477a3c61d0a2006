import { setTimeout as passing } from "node:timers/promises";
import { openControl, sayReady } from "../harness/control-port.ts";

/** What a process holds when all garbage is collected, in bytes. */
export interface Held {
  readonly rss: number;
  readonly heap: number;
  /** Buffers and what else lies outside of the heap, as far as V8 knows. */
  readonly external: number;
}

/** Collects garbage until nothing more goes. Needs `--expose-gc`. */
async function held(): Promise<Held> {
  const { gc } = globalThis;
  if (!gc) throw new Error("run it with --expose-gc");
  // More than once: what a finaliser lets go of is garbage only after it has run.
  for (let round = 0; round < 4; round += 1) {
    // The kind that V8 does before it would give up, which empties pages that are half used.
    gc({ type: "major", execution: "sync", flavor: "last-resort" });
    await passing(20);
  }
  const { rss, heapUsed: heap, external } = process.memoryUsage();
  return { rss, heap, external };
}

/**
 * Tells the bench where the server listens, and answers `{ "do": "held" }` with {@link Held}; other
 * orders go to `obey`.
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
