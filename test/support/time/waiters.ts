/** Maximum wait of a test for one condition, below the test's timeout, as `expect.poll`. */
export const MAX_WAIT_MS = 280_000;

/** Maximum characters reported of the last state: the end of a text, the start of a value. */
const MAX_SEEN = 1_500;

/** Returns true once the awaited condition is true. */
type Check = () => boolean;

interface Waiting {
  readonly check: Check;
  readonly resolve: () => void;
}

/**
 * The pending waits of one helper. A wait that takes too long fails with its condition and the last
 * state.
 */
export class Waiters {
  readonly #seen: () => unknown;
  readonly #maxWaitMs: number;
  #waiting: readonly Waiting[] = [];

  /** @param seen Returns the state that a failed wait reports. */
  constructor(seen: () => unknown, maxWaitMs = MAX_WAIT_MS) {
    this.#seen = seen;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Resolves once `check` returns true. It is checked now and at each {@link look}.
   * @param what Names the condition. Default: its source text.
   */
  until(check: Check, what = textOf(check)): Promise<void> {
    if (check()) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Created here, so that the stack has the line of the test that waits.
    const error = new Error();
    const timer = setTimeout(() => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      error.message = failure(this.#maxWaitMs, what, this.#seen());
      reject(error);
    }, this.#maxWaitMs);
    // In browsers, timers are numbers.
    if (typeof timer === "object") timer.unref();
    const waiting: Waiting = {
      check,
      resolve: () => {
        clearTimeout(timer);
        resolve();
      },
    };
    this.#waiting = [...this.#waiting, waiting];
    // A wait that the test has abandoned must not become an unhandled rejection.
    promise.catch(() => undefined);
    return promise;
  }

  /** Checks all pending conditions. */
  look(): void {
    if (this.#waiting.length === 0) return;
    const ready = this.#waiting.filter(({ check }) => check());
    this.#waiting = this.#waiting.filter((waiting) => !ready.includes(waiting));
    for (const { resolve } of ready) resolve();
  }
}

/** Items in order of arrival, for a test that waits for each. */
export class Queue<T extends object> {
  readonly #arrived: T[] = [];
  readonly #waiters: Waiters;
  readonly #what: string;
  #count = 0;

  /** @param what Names one item. */
  constructor(what: string) {
    this.#what = what;
    this.#waiters = new Waiters(() => `${this.#count} arrived before`);
  }

  push(item: T): void {
    this.#arrived.push(item);
    this.#count += 1;
    this.#waiters.look();
  }

  /** Resolves with the next item. Only one caller may wait at a time. */
  async next(): Promise<T> {
    await this.#waiters.until(() => this.#arrived.length > 0, this.#what);
    const item = this.#arrived.shift();
    if (!item) throw new Error(`two tests wait for ${this.#what}`);
    return item;
  }
}

/**
 * Number of consecutive turns of the event loop with a check. Later checks are `PAUSE_MS` apart.
 */
const TURNS = 50;
const PAUSE_MS = 20;

/**
 * Resolves once `check` returns true. It is checked in each of the next turns of the event loop,
 * then every 20 ms. Fails like {@link Waiters}.
 */
export async function eventually(
  check: () => boolean | Promise<boolean>,
  seen: () => unknown,
  { what = textOf(check), maxWaitMs = MAX_WAIT_MS }: { what?: string; maxWaitMs?: number } = {},
): Promise<void> {
  const startMs = performance.now();
  for (let turn = 1; !(await check()); turn += 1) {
    if (performance.now() - startMs > maxWaitMs) throw new Error(failure(maxWaitMs, what, seen()));
    if (turn < TURNS) await new Promise((resolve) => setImmediate(resolve));
    else await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

function failure(ms: number, what: string, seen: unknown): string {
  const last = typeof seen === "string" ? seen.slice(-MAX_SEEN) : format(seen).slice(0, MAX_SEEN);
  return `waited ${ms / 1_000} s without success for ${what}; last seen: ${last}`;
}

/** Formats without Node's help, because some waits are in browsers. */
function format(seen: unknown): string {
  try {
    return (
      JSON.stringify(seen, (_name, value) => (value instanceof Error ? String(value) : value)) ?? "nothing"
    );
  } catch {
    return String(seen);
  }
}

function textOf(check: () => unknown): string {
  return String(check)
    .replace(/^\(\) => /, "")
    .replaceAll(/\s+/g, " ")
    .slice(0, 300);
}
