import { type Claimant, FairQueue } from "./fair-queue.ts";

/** Time per event-loop turn for catching up and admission. */
const BUDGET_MS = 2;
/** Upper bound of the pause between two batches, see {@link TurnBudget.yieldAfter}. */
const MAX_YIELD_MS = 50;
/** Without a new connection for this long, the accept queue counts as empty. */
const IDLE_AFTER_MS = 2;

/** How to schedule the remaining work. Tests replace both. */
export interface Scheduling {
  /** Runs `next` in a later turn, after pending I/O. Default: `setImmediate`. */
  readonly defer?: (next: () => void) => void;
  /** Runs `next` in this turn, after all pending microtasks. */
  readonly afterMicrotasks?: (next: () => void) => void;
}

type Work = () => void;

/** Stands for the server's own work. */
const SERVER: Claimant = { name: "", isKeyed: false };

/**
 * Time-slices the event loop between live delivery and work that can wait.
 *
 * Hundreds of sockets may become writable in one turn. Work beyond this turn's budget runs in later
 * turns. The server's own work alternates with that of requests, whose clients take turns.
 *
 * A batch to thousands of sockets takes tens of milliseconds, and libuv accepts one connection per
 * turn (libuv#3696): {@link yieldAfter} gives new connections time between batches.
 */
export class TurnBudget {
  readonly #monotonicMs: () => number;
  readonly #defer: (next: () => void) => void;
  readonly #afterMicrotasks: (next: () => void) => void;
  readonly #own = new FairQueue<Work>();
  readonly #requested = new FairQueue<Work>();
  #isServersTurn = false;
  /** When the first work of this turn started. */
  #turnStartMs: number | undefined;
  #turnScheduled = false;
  #lastArrivalMs = Number.NEGATIVE_INFINITY;

  constructor(
    monotonicMs: () => number,
    { defer = setImmediate, afterMicrotasks = runAfterMicrotasks }: Scheduling = {},
  ) {
    this.#monotonicMs = monotonicMs;
    this.#defer = defer;
    this.#afterMicrotasks = afterMicrotasks;
  }

  /**
   * Runs `work` now if this turn has time left and nothing is queued, otherwise later. `work` must
   * not throw. Returns a function that cancels it while it is queued. `by`: the client; default:
   * the server itself.
   */
  run(work: Work, by: Claimant = SERVER): () => void {
    this.#scheduleNextTurn();
    if (this.#waiting === 0 && this.#hasTimeLeft()) {
      this.#execute(work);
      return () => {};
    }
    const queue = by === SERVER ? this.#own : this.#requested;
    // Wrap it, so that the same function can be queued twice.
    const queued = () => work();
    queue.push(queued, by);
    return () => queue.delete(queued, by);
  }

  /** Resolves when a long task of `by` may continue. Await it between slices. */
  pause(by?: Claimant): Promise<void> {
    return new Promise((resolve) => void this.run(resolve, by));
  }

  /** Records that a connection was accepted. More may be waiting in the kernel's accept queue. */
  noteArrival(): void {
    this.#lastArrivalMs = this.#monotonicMs();
  }

  /**
   * Call after work that blocked the event loop for `blockedMs`. Resolves when neither queued work
   * nor new connections wait any longer, or after `blockedMs`, at most 50 ms. Returns `undefined`
   * if nothing waits now.
   */
  yieldAfter(blockedMs: number): Promise<void> | undefined {
    const nowMs = this.#monotonicMs();
    const deadlineMs = nowMs + Math.min(blockedMs, MAX_YIELD_MS);
    // A connection accepted just before the blocking work suggests that others queued up behind it.
    return this.#isNeeded(nowMs - blockedMs) && deadlineMs > nowMs ? this.#yieldAfter(deadlineMs) : undefined;
  }

  async #yieldAfter(deadlineMs: number): Promise<void> {
    let nowMs: number;
    // Assume one waiting connection, so that the first turn can find out.
    this.noteArrival();
    do {
      await new Promise<void>((resolve) => this.#defer(resolve));
      nowMs = this.#monotonicMs();
    } while (nowMs < deadlineMs && this.#isNeeded(nowMs));
  }

  #isNeeded(nowMs: number): boolean {
    return this.#waiting > 0 || nowMs - this.#lastArrivalMs < IDLE_AFTER_MS;
  }

  get #waiting(): number {
    return this.#own.size + this.#requested.size;
  }

  #next(): Work | undefined {
    this.#isServersTurn = !this.#isServersTurn;
    const [first, second] = this.#isServersTurn ? [this.#own, this.#requested] : [this.#requested, this.#own];
    return first.shift() ?? second.shift();
  }

  #hasTimeLeft(): boolean {
    return this.#turnStartMs === undefined || this.#monotonicMs() - this.#turnStartMs < BUDGET_MS;
  }

  #execute(work: () => void): void {
    this.#turnStartMs ??= this.#monotonicMs();
    work();
  }

  #scheduleNextTurn(): void {
    if (this.#turnScheduled) return;
    this.#turnScheduled = true;
    this.#defer(() => {
      this.#turnScheduled = false;
      this.#turnStartMs = undefined;
      this.#runQueued();
    });
  }

  /** Runs one item at a time and waits for its microtasks, so that their time counts too. */
  #runQueued(): void {
    const work = this.#hasTimeLeft() ? this.#next() : undefined;
    if (work) {
      this.#execute(work);
      this.#afterMicrotasks(() => this.#runQueued());
    } else if (this.#waiting > 0 || this.#turnStartMs !== undefined) this.#scheduleNextTurn();
  }
}

/**
 * Runs `next` after all pending microtasks. Node runs a `nextTick` callback that was queued in a
 * microtask only once no microtask is left.
 */
function runAfterMicrotasks(next: () => void): void {
  queueMicrotask(() => process.nextTick(next));
}
