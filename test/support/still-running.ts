import { getEventListeners } from "node:events";
import { test as base, expect } from "vitest";

/** Timers that run now, by the clocks of the tests. */
const timers = new Map<symbol, string>();
/** Abort listeners that source files added. */
let listeners: {
  readonly signal: AbortSignal;
  readonly listener: EventListener;
  readonly name: string;
}[] = [];
let isWatching = false;

const SOURCE = /at (?:async )?(?:(\S+) )?.*\/(src\/(?!lib\/clock)[\w./-]+\.ts)/;
const SOCKETS = new Set(["TCPSocketWrap", "TCPServerWrap", "ChildProcess", "FSEventWrap"]);

/** Notes a timer that starts, by the function that started it. Call what it returns when the timer ends. */
export function noteTimer(kind: "sleep" | "interval"): () => void {
  if (!isWatching) return () => {};
  const id = Symbol(kind);
  const caller = new Error().stack?.split("\n").map(sourceOf).find(Boolean);
  // A timer of the test itself is the test's own concern.
  if (caller !== undefined) timers.set(id, `${kind} of ${caller}`);
  return () => timers.delete(id);
}

/** Names what runs now: the timers of the tests' clocks, and the abort listeners that source files added. Sorted. */
export function stillRunning(): readonly string[] {
  listeners = listeners.filter(
    ({ signal, listener }) => !signal.aborted && getEventListeners(signal, "abort").includes(listener),
  );
  return [...timers.values(), ...listeners.map(({ name }) => `abort listener of ${name}`)].toSorted();
}

/**
 * A test that fails, with their names, when timers, abort listeners or sockets outlive it. Its clocks must be ManualClock or FastClock, since only
 * those note their timers.
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
          .poll(() => [...stillRunning(), ...surplus(sockets(), before)], { interval: 5, timeout: 5_000 })
          .toEqual([]);
      } finally {
        unwatch();
      }
    },
    { auto: true },
  ],
});

function watch(): () => void {
  isWatching = true;
  const add = EventTarget.prototype.addEventListener;
  AbortSignal.prototype.addEventListener = function (
    this: AbortSignal,
    ...given: Parameters<AbortSignal["addEventListener"]>
  ) {
    Reflect.apply(add, this, given);
    const [type, listener] = given;
    const name = sourceOf(new Error().stack?.split("\n")[2] ?? "");
    if (type === "abort" && name !== undefined && typeof listener === "function")
      listeners.push({ signal: this, listener, name });
  };
  return () => {
    Reflect.deleteProperty(AbortSignal.prototype, "addEventListener");
    isWatching = false;
    timers.clear();
    listeners = [];
  };
}

function sourceOf(frame: string): string | undefined {
  const [, name = "a function", file] = SOURCE.exec(frame) ?? [];
  return file && `${name} in ${file}`;
}

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
