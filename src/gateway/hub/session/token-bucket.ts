/** A token bucket. Allows a sustained rate and bursts; the caller passes the time. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #refilledAtMs: number;

  /** Starts full. `perSecond` 0 allows only the first burst, ever. `burst` is at least 1. */
  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#refilledAtMs = nowMs;
  }

  /** Takes a token if available; a refusal costs nothing. `nowMs` must never decrease. */
  take(nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #refill(nowMs: number): void {
    const gained = ((nowMs - this.#refilledAtMs) * this.#perSecond) / 1_000;
    this.#tokens = Math.min(this.#burst, this.#tokens + gained);
    this.#refilledAtMs = nowMs;
  }

  /** Charges tokens that were used elsewhere. The balance may become negative. */
  charge(count: number, nowMs: number): void {
    this.#refill(nowMs);
    this.#tokens -= count;
  }

  /** Whole tokens left after the last call that passed the time. */
  get left(): number {
    return Math.max(0, Math.floor(this.#tokens));
  }

  /**
   * Milliseconds from the last call that passed the time until `wanted` tokens, at most `burst`,
   * are available; Infinity if never.
   */
  waitMs(wanted: number): number {
    return wanted <= this.#tokens ? 0 : ((wanted - this.#tokens) * 1_000) / this.#perSecond;
  }
}
