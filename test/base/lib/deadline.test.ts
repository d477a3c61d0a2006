import { getEventListeners } from "node:events";
import { expect, vi } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { DeadlineExpired, withDeadline } from "../../../src/base/lib/time/deadline.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { test } from "../../support/time/still-running.ts";

/** Work that ignores its signal. */
const never = () => new Promise<never>(() => {});

test("work that ends in time leaves neither a timer nor a listener behind, whether it succeeds or fails", async () => {
  const clock = new ManualClock();
  const { signal } = new AbortController();
  expect(await withDeadline(async () => "done", 1_000, clock, signal)).toBe("done");
  const failing = withDeadline(() => Promise.reject(new Error("no")), 1_000, clock, signal);
  await expect(failing).rejects.toThrow("no");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("late work is rejected at its deadline, and its signal is aborted then and not before", async () => {
  const clock = new ManualClock();
  let given: AbortSignal | undefined;
  const late = withDeadline(
    (signal) => {
      given = signal;
      return never();
    },
    1_000,
    clock,
    new AbortController().signal,
  );
  clock.advance(999);
  expect(given?.aborted).toBe(false);
  clock.advance(1);
  await expect(late).rejects.toThrow(new DeadlineExpired(1_000));
  expect(given?.reason).toBeInstanceOf(DeadlineExpired);
});

test("an abort rejects at once and aborts the work, both with its reason; after an abort, no work starts", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  const work = vi.fn((_signal: AbortSignal) => never());
  const stopped = withDeadline(work, 1_000, clock, stop.signal);
  stop.abort(new Error("stopping"));
  await expect(stopped).rejects.toThrow("stopping");
  expect(work.mock.calls[0]?.[0].reason).toEqual(new Error("stopping"));
  await expect(withDeadline(work, 1_000, clock, stop.signal)).rejects.toThrow("stopping");
  expect(work).toHaveBeenCalledTimes(1);
});

test("a finished sleep of the system clock leaves no listener behind, and an aborted one no timer", async () => {
  vi.useFakeTimers();
  try {
    const stop = new AbortController();
    const slept = systemClock.sleep(1_000, stop.signal);
    await vi.advanceTimersByTimeAsync(1_000);
    await slept;
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
    const stopped = systemClock.sleep(1_000, stop.signal);
    expect(vi.getTimerCount()).toBe(1);
    stop.abort(new Error("stopping"));
    await expect(stopped).rejects.toThrow("stopping");
    expect(vi.getTimerCount()).toBe(0);
    await expect(systemClock.sleep(1_000, stop.signal)).rejects.toThrow("stopping");
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("an interval of the system clock does not keep the process alive", () => {
  const armed = vi.spyOn(globalThis, "setInterval");
  const cancel = systemClock.every(1_000, () => {});
  const [timer] = armed.mock.results;
  armed.mockRestore();
  expect(timer?.type === "return" && timer.value.hasRef()).toBe(false);
  cancel();
});
