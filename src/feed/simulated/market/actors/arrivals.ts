import type { Random } from "../random.ts";

/**
 * Draws the times of trades that trigger further trades: a Hawkes process with an exponential
 * kernel. Each arrival raises the intensity by branching·decay, which then fades at rate `decay`.
 * On average every arrival triggers `branching` more, so the mean intensity is base ÷ (1 −
 * branching). Drawn exactly, without discretization or rejection: Dassios and Zhao, "Exact
 * simulation of Hawkes process with exponentially decaying intensity", Electronic Communications in
 * Probability 18 (2013).
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

  /** Draws the milliseconds from `nowMs` at this base intensity. May be drawn again any time. */
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
