import { test as base, expect } from "vitest";
import { stillRunning, watch } from "./running-timers.ts";

export { stillRunning };

const SOCKETS = new Set(["TCPSocketWrap", "TCPServerWrap", "ChildProcess", "FSEventWrap"]);

/**
 * A test that fails, with their names, when timers, abort listeners or sockets outlive it. Its
 * clocks must be a ManualClock or a PacedClock, since only those note their timers.
 */
export const test = base.extend<{ leaks: undefined }>({
  leaks: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner demands a pattern
    async ({}, use) => {
      const before = sockets();
      const unwatch = watch();
      try {
        await use(undefined);
        await expect
          .poll(() => [...stillRunning(), ...surplus(sockets(), before)], { interval: 5 })
          .toEqual([]);
      } finally {
        unwatch();
      }
    },
    { auto: true },
  ],
});

function sockets(): readonly string[] {
  return process.getActiveResourcesInfo().filter((kind) => SOCKETS.has(kind));
}

function surplus(now: readonly string[], before: readonly string[]): readonly string[] {
  const left = [...before];
  return now.filter((kind) => {
    const at = left.indexOf(kind);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
