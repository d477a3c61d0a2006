import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../src/lib/time/clock.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([2 ** 31, 2_147_484_000, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])(
  "a wait of %d ms, longer than timers count, does not end at once",
  async (ms) => {
    const stop = new AbortController();
    const fired: string[] = [];
    systemClock
      .sleep(ms, stop.signal)
      .then(() => fired.push("sleep"))
      .catch(() => {});
    const cancel = systemClock.every(ms, () => fired.push("every"));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(fired).toEqual([]);
    stop.abort();
    cancel();
  },
);
