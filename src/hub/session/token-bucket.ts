/** Allows so many things a second, and a burst of them after a rest. Time is an argument. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #filledAtMs: number;

  /** Full at first. `perSecond` 0: only the burst, ever. `burst`: 1 or more. */
  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAtMs = nowMs;
  }

  /** Takes one if there is one; false when it is not allowed now, which costs nothing. `nowMs` never goes back. */
  take(nowMs: number): boolean {
    this.#fill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #fill(nowMs: number): void {
    const gained = ((nowMs - this.#filledAtMs) * this.#perSecond) / 1_000;
    this.#tokens = Math.min(this.#burst, this.#tokens + gained);
    this.#filledAtMs = nowMs;
  }

  /** Takes so many that were had elsewhere: what there is not is owed, all of it, and comes off what is gained later. */
  owe(things: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#tokens -= things;
  }

  /** What was taken and owed and is not gained again yet, in whole things. */
  spent(nowMs: number): number {
    this.#fill(nowMs);
    return Math.ceil(this.#burst - this.#tokens);
  }

  /** Whole things that were left after the last `take`. */
  get left(): number {
    return Math.max(0, Math.floor(this.#tokens));
  }

  /** Milliseconds from the last `take` until there are `wanted` again, without another; Infinity where they never come. */
  waitMs(wanted: number): number {
    return wanted <= this.#tokens ? 0 : ((wanted - this.#tokens) * 1_000) / this.#perSecond;
  }
}
