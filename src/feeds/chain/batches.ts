import type { Clock } from "../../base/lib/time/clock.ts";
import { waitAtMost } from "../../base/lib/time/wait-at-most.ts";

interface BatchOptions<T> {
  /** Whether the batch is full. The source then waits. */
  readonly isFull: (batch: readonly T[]) => boolean;
  /** Whether more is expected soon. */
  readonly mayGrow: (batch: readonly T[]) => boolean;
  /** How long to wait for each further item, in milliseconds. */
  readonly gapMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Yields a source's items in order, in batches. Continues to read while the consumer works on a
 * batch. Ends or fails as the source does, after its last items.
 */
export async function* inBatches<T>(
  source: AsyncIterable<T>,
  { isFull, mayGrow, gapMs, clock, signal }: BatchOptions<T>,
): AsyncGenerator<readonly T[]> {
  let batch: T[] = [];
  let isOver = false;
  let moved = Promise.withResolvers<void>();
  const move = () => {
    moved.resolve();
    moved = Promise.withResolvers();
  };
  const reading = (async () => {
    try {
      for await (const item of source) {
        batch.push(item);
        move();
        while (isFull(batch)) await moved.promise;
      }
    } finally {
      isOver = true;
      move();
    }
  })();
  // Awaited below, after the items. Until then, an error must not count as unhandled.
  reading.catch(() => undefined);
  for (;;) {
    while (batch.length === 0 && !isOver) await moved.promise;
    for (let length = 0; length < batch.length && !isOver && !isFull(batch) && mayGrow(batch); ) {
      length = batch.length;
      await waitAtMost(moved.promise, gapMs, clock, signal);
    }
    if (batch.length === 0) return await reading;
    const ready = batch;
    batch = [];
    move();
    yield ready;
  }
}
