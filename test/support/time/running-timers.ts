import { getEventListeners } from "node:events";

/**
 * Where a timer or listener was created. The stack is formatted only on use, because that is slow.
 */
type Origin = Error;

/** Running timers of the tests' clocks. */
const timers = new Map<symbol, { readonly kind: string; readonly origin: Origin }>();
/** Abort listeners that were added. Some may have been removed since. */
let listeners: {
  readonly signal: AbortSignal;
  readonly listener: EventListener;
  readonly origin: Origin;
}[] = [];
let sweepAt = 1_000;
let isWatching = false;

const SOURCE = /at (?:async )?(?:(\S+) )?.*\/(src\/(?!lib\/time\/clock)[\w./-]+\.ts)/;

/**
 * Records a timer and the function that started it. Returns a function to call when the timer ends.
 */
export function noteTimer(kind: "sleep" | "interval"): () => void {
  if (!isWatching) return () => {};
  const id = Symbol(kind);
  timers.set(id, { kind, origin: new Error() });
  return () => timers.delete(id);
}

/**
 * Returns the names of the running timers of the tests' clocks and of the abort listeners that
 * source files added, sorted.
 */
export function stillRunning(): readonly string[] {
  sweep();
  const running = [...timers.values()].flatMap(({ kind, origin }) => {
    const caller = framesOf(origin).map(sourceOf).find(Boolean);
    // A timer that the test itself started has no caller in src and does not count.
    return caller === undefined ? [] : [`${kind} of ${caller}`];
  });
  const listening = listeners.flatMap(({ origin }) => {
    const name = sourceOf(framesOf(origin)[1] ?? "");
    return name === undefined ? [] : [`abort listener of ${name}`];
  });
  return [...running, ...listening].toSorted();
}

/**
 * Starts to record timers and abort listeners. Returns a function that stops and clears the
 * records.
 */
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

/** Drops the listeners that were removed or whose signal has aborted. */
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
