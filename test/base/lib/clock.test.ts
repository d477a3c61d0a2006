import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { createForwardTime } from "../../../src/feeds/forward-time.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([2 ** 31, 2_147_484_000, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])(
  "a sleep and an interval of %d ms, which is too long for Node's timers, do not end within five seconds",
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

test("forward time keeps running if the clock is set back below its start, and follows a jump ahead and back", () => {
  let [wallMs, passedMs] = [1_000_000, 0];
  const forwardMs = createForwardTime({ now: () => wallMs, monotonic: () => passedMs });
  const at = (wall: number, passed: number) => {
    [wallMs, passedMs] = [wall, passed];
    return forwardMs();
  };
  expect(at(0, 10)).toBe(1_000_010);
  expect(at(5_000_000, 20)).toBe(5_000_000);
  expect(at(1_000_030, 30)).toBe(1_000_030);
});
