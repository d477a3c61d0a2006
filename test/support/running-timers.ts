import { getEventListeners } from "node:events";

/** Where something was begun. Its text is made only when it is asked for, since that takes long. */
type Origin = Error;

/** Timers that run now, by the clocks of the tests. */
const timers = new Map<symbol, { readonly kind: string; readonly origin: Origin }>();
/** Abort listeners that were added and may have been removed since. */
let listeners: {
  readonly signal: AbortSignal;
  readonly listener: EventListener;
  readonly origin: Origin;
}[] = [];
let sweepAt = 1_000;
let isWatching = false;

const SOURCE = /at (?:async )?(?:(\S+) )?.*\/(src\/(?!lib\/time\/clock)[\w./-]+\.ts)/;

/**
 * Notes a timer that starts, by the function that started it. Call what it returns when the timer
 * ends.
 */
export function noteTimer(kind: "sleep" | "interval"): () => void {
  if (!isWatching) return () => {};
  const id = Symbol(kind);
  timers.set(id, { kind, origin: new Error() });
  return () => timers.delete(id);
}

/**
 * Names what runs now: the timers of the tests' clocks, and the abort listeners that source files
 * added. Sorted.
 */
export function stillRunning(): readonly string[] {
  sweep();
  const running = [...timers.values()].flatMap(({ kind, origin }) => {
    const caller = framesOf(origin).map(sourceOf).find(Boolean);
    // A timer of the test itself is the test's own concern.
    return caller === undefined ? [] : [`${kind} of ${caller}`];
  });
  const listening = listeners.flatMap(({ origin }) => {
    const name = sourceOf(framesOf(origin)[1] ?? "");
    return name === undefined ? [] : [`abort listener of ${name}`];
  });
  return [...running, ...listening].toSorted();
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
    if (type !== "abort" || typeof listener !== "function") return;
    listeners.push({ signal: this, listener, origin: new Error() });
    if (listeners.length > sweepAt) sweep();
  };
  return () => {
    Reflect.deleteProperty(AbortSignal.prototype, "addEventListener");
    isWatching = false;
    timers.clear();
    listeners = [];
  };
}

/** Forgets the listeners that were removed. */
function sweep(): void {
  listeners = listeners.filter(
    ({ signal, listener }) => !signal.aborted && getEventListeners(signal, "abort").includes(listener),
  );
  sweepAt = 2 * listeners.length + 1_000;
}

function framesOf({ stack = "" }: Origin): readonly string[] {
  return stack.split("\n").slice(1);
}

function sourceOf(frame: string): string | undefined {
  const [, name = "a function", file] = SOURCE.exec(frame) ?? [];
  return file && `${name} in ${file}`;
}
