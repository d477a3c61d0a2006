import type { Clock } from "../../base/lib/time/clock.ts";
import type { ServiceReport } from "../../gateway/source/index.ts";

/**
 * The outcome of a request: `good`: a valid response. `refused`: too many requests, or not
 * supported. `failed`: anything else.
 */
export type RequestOutcome = "good" | "refused" | "failed";

const SLOT_MS = 10_000;
/** Slots in five minutes, the time over which providers count. */
const SLOTS = 30;

/** Counts the requests to an external service by outcome, and by time for five minutes. */
export class ServiceTally {
  readonly #clock: Clock;
  readonly #counts = { requests: 0, errors: 0, refused: 0, waitedMs: 0 };
  #goodAt: number | undefined;
  readonly #slots = new Array<number>(SLOTS).fill(0);
  #slot = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records a request that was delayed by `waitedMs`. */
  asked(waitedMs: number): void {
    this.#counts.requests += 1;
    const index = this.#currentSlot() % SLOTS;
    this.#slots[index] = (this.#slots[index] ?? 0) + 1;
    this.#counts.waitedMs += Math.max(0, waitedMs);
  }

  /** Returns the number of requests in the last five minutes, in steps of 10 s. */
  recent(): number {
    this.#currentSlot();
    return this.#slots.reduce((sum, requests) => sum + requests);
  }

  ended(outcome: RequestOutcome): void {
    if (outcome === "good") this.heard();
    else if (outcome === "refused") this.#counts.refused += 1;
    else this.#counts.errors += 1;
  }

  /** Records that useful data arrived. */
  heard(): void {
    this.#goodAt = this.#clock.monotonic();
  }

  report(part: string, service: string, isUp: boolean): ServiceReport {
    const ageMs = this.#goodAt === undefined ? undefined : this.#clock.monotonic() - this.#goodAt;
    return { part, service, isUp, ageMs, ...this.#counts };
  }

  /** Returns the number of the current slot. Clears the slots that began since the last call. */
  #currentSlot(): number {
    const slot = Math.floor(this.#clock.monotonic() / SLOT_MS);
    for (let next = Math.max(this.#slot + 1, slot - SLOTS + 1); next <= slot; next++)
      this.#slots[next % SLOTS] = 0;
    this.#slot = Math.max(this.#slot, slot);
    return this.#slot;
  }
}
