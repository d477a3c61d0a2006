import type { Random } from "../random.ts";

/**
 * Draws times of trades that trigger others: a Hawkes process with exponential kernel. Each trade
 * raises the intensity by branching·decay, which fades at rate `decay`. The mean intensity is base
 * ÷ (1 − branching). Exact: Dassios and Zhao, Electronic Communications in Probability 18 (2013).
 */
export class Arrivals {
  readonly #jump: number;
  readonly #decay: number;
  #excess = 0;
  #sinceMs: number;

  /** `branching` in [0, 1); `memoryMs`: mean time from a trade to one that it triggers. */
  constructor(nowMs: number, branching: number, memoryMs: number) {
    this.#decay = 1 / memoryMs;
    this.#jump = branching * this.#decay;
    this.#sinceMs = nowMs;
  }

  /**
   * Draws the time from `nowMs` to the next trade at this base intensity. Until that trade, a new
   * draw may replace it, because the process has no other memory than the intensity.
   */
  waitingMs(nowMs: number, basePerMs: number, random: Random): number {
    this.#fadeTo(nowMs);
    const own = basePerMs > 0 ? -Math.log(random.unit()) / basePerMs : Number.POSITIVE_INFINITY;
    if (this.#excess <= 0) return own;
    const remaining = 1 + (this.#decay * Math.log(random.unit())) / this.#excess;
    return remaining > 0 ? Math.min(own, -Math.log(remaining) / this.#decay) : own;
  }

  arrived(nowMs: number): void {
    this.#fadeTo(nowMs);
    this.#excess += this.#jump;
  }

  #fadeTo(nowMs: number): void {
    if (nowMs === this.#sinceMs) return;
    this.#excess *= Math.exp(-this.#decay * (nowMs - this.#sinceMs));
    if (this.#excess < 1e-12) this.#excess = 0;
    this.#sinceMs = nowMs;
  }
}
