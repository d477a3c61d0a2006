/** What catching up may take of one turn of the event loop before those who are at the head have their turn again. */
const BUDGET_MS = 2;

/**
 * Shares the event loop between those who are caught up and those who are at the head: in one turn hundreds of sockets may report room, and were each
 * caught up at once, a batch for all others would wait for the last of them. What does not fit into this turn's time is done in the
 * next ones, in order, with I/O in between.
 */
export class TurnBudget {
  readonly #monotonicMs: () => number;
  readonly #defer: (next: () => void) => void;
  readonly #waiting: (() => void)[] = [];
  #spentMs = 0;
  #renewing = false;

  /** `defer`: how to go on in a later turn, behind the I/O of this one. Default setImmediate. */
  constructor(monotonicMs: () => number, defer: (next: () => void) => void = setImmediate) {
    this.#monotonicMs = monotonicMs;
    this.#defer = defer;
  }

  /** Does the work now if the turn has time left, else in a later one. The work must not throw. */
  run(work: () => void): void {
    if (this.#spentMs < BUDGET_MS && this.#waiting.length === 0) this.#do(work);
    else this.#waiting.push(work);
    this.#renew();
  }

  #do(work: () => void): void {
    const began = this.#monotonicMs();
    work();
    this.#spentMs += this.#monotonicMs() - began;
  }

  #renew(): void {
    if (this.#renewing) return;
    this.#renewing = true;
    this.#defer(() => {
      this.#renewing = false;
      this.#spentMs = 0;
      let done = 0;
      for (; done < this.#waiting.length && this.#spentMs < BUDGET_MS; done++) {
        const work = this.#waiting[done];
        if (work) this.#do(work);
      }
      this.#waiting.splice(0, done);
      if (this.#waiting.length > 0 || this.#spentMs > 0) this.#renew();
    });
  }
}
