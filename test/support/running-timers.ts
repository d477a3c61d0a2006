import { getEventListeners } from "node:events";

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

/** Begins to note timers and abort listeners. Call what it returns to stop and forget them. */
export function watch(): () => void {
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
