/** How long a test waits for one thing before it fails: less than the time-out of a test. */
export const MAX_WAIT_MS = 50_000;

/**
 * As many characters of what was seen are reported: the end of a text, the beginning of a value.
 */
const MAX_SEEN = 1_500;

/** What is waited for: it holds once this returns true. */
type Check = () => boolean;

interface Waiting {
  readonly check: Check;
  readonly resolve: () => void;
}

/**
 * The waits of one helper. A wait that takes too long fails with a sentence on what it waited for
 * and what was seen last.
 */
export class Waiters {
  readonly #seen: () => unknown;
  readonly #maxWaitMs: number;
  #waiting: readonly Waiting[] = [];

  /** `seen`: what to report of a wait that fails. */
  constructor(seen: () => unknown, maxWaitMs = MAX_WAIT_MS) {
    this.#seen = seen;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Resolves once `check` holds, at the latest with the next {@link look}. `what`: names it;
   * default: its source text.
   */
  until(check: Check, what = textOf(check)): Promise<void> {
    if (check()) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Made here: its stack names the line of the test that waits.
    const error = new Error();
    const timer = setTimeout(() => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      error.message = inVain(this.#maxWaitMs, what, this.#seen());
      reject(error);
    }, this.#maxWaitMs);
    // A browser's timers are numbers.
    if (typeof timer === "object") timer.unref();
    const waiting: Waiting = {
      check,
      resolve: () => {
        clearTimeout(timer);
        resolve();
      },
    };
    this.#waiting = [...this.#waiting, waiting];
    // A wait that the test gave up is nobody's failure.
    promise.catch(() => undefined);
    return promise;
  }

  /** Looks whether what is waited for holds now. */
  look(): void {
    if (this.#waiting.length === 0) return;
    const ready = this.#waiting.filter(({ check }) => check());
    this.#waiting = this.#waiting.filter((waiting) => !ready.includes(waiting));
    for (const { resolve } of ready) resolve();
  }
}

/** What comes in, one after the other. */
export class Queue<T extends object> {
  readonly #arrived: T[] = [];
  readonly #waiters: Waiters;
  readonly #what: string;
  #count = 0;

  /** `what`: names one of it. */
  constructor(what: string) {
    this.#what = what;
    this.#waiters = new Waiters(() => `${this.#count} came before`);
  }

  push(item: T): void {
    this.#arrived.push(item);
    this.#count += 1;
    this.#waiters.look();
  }

  /** The next one that nobody took yet. One caller at a time. */
  async next(): Promise<T> {
    await this.#waiters.until(() => this.#arrived.length > 0, this.#what);
    const item = this.#arrived.shift();
    if (!item) throw new Error(`two tests wait for ${this.#what}`);
    return item;
  }
}

/** So many turns of the event loop are looked at one after the other, later ones now and then. */
const TURNS = 50;
const PAUSE_MS = 20;

/**
 * Resolves once `check` holds, which is looked at in the next turns of the event loop, and from
 * then on every 20 ms. Fails as {@link Waiters} do.
 */
export async function eventually(
  check: () => boolean | Promise<boolean>,
  seen: () => unknown,
  { what = textOf(check), maxWaitMs = MAX_WAIT_MS }: { what?: string; maxWaitMs?: number } = {},
): Promise<void> {
  const startMs = performance.now();
  for (let turn = 1; !(await check()); turn += 1) {
    if (performance.now() - startMs > maxWaitMs) throw new Error(inVain(maxWaitMs, what, seen()));
    if (turn < TURNS) await new Promise((resolve) => setImmediate(resolve));
    else await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

function inVain(ms: number, what: string, seen: unknown): string {
  const last = typeof seen === "string" ? seen.slice(-MAX_SEEN) : inWords(seen).slice(0, MAX_SEEN);
  return `waited ${ms / 1_000} s in vain for ${what}; seen last: ${last}`;
}

/** Without the help of Node: some waits are in browsers. */
function inWords(seen: unknown): string {
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
