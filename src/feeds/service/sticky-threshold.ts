/** Share of a limit to which a value must fall before it no longer counts as above it. */
const LEAVE_SHARE = 2 / 3;

/** Compares a value that may hover around its limit, without changing its mind each time. */
export class StickyThreshold {
  #isAbove = false;

  /** Returns whether the value exceeds the limit, or did and has not fallen to two thirds of it. */
  isAbove(value: number, limit: number): boolean {
    this.#isAbove = value > (this.#isAbove ? limit * LEAVE_SHARE : limit);
    return this.#isAbove;
  }
}
