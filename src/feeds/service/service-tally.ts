import type { Clock } from "../../base/lib/time/clock.ts";
import type { ServiceReport } from "../../gateway/source/index.ts";
import { StickyThreshold } from "./sticky-threshold.ts";
import { Unread } from "./unread.ts";

/**
 * The outcome of a request: `good`: a valid response. `refused`: too many requests, or not
 * supported. `failed`: anything else.
 */
export type RequestOutcome = "good" | "refused" | "failed";

const SLOT_MS = 10_000;
/** Slots in five minutes, the time over which providers count. */
const SLOTS = 30;
/** Time in which the memory of a slow answer halves. */
const HALF_LIFE_MS = 10_000;
/** A service that takes longer to answer is slow, and is named. */
const SLOW_MS = 3_000;

/**
 * Counts the requests to an external service by outcome, and by time for five minutes. Knows how
 * long the service takes to answer.
 */
export class ServiceTally {
  readonly #clock: Clock;
  readonly #counts = { requests: 0, errors: 0, refused: 0, waitedMs: 0 };
  #goodAt: number | undefined;
  readonly #slots = new Array<number>(SLOTS).fill(0);
  #slot = 0;
  /** Monotonic times of the requests without an answer, the oldest first. */
  readonly #open = new Set<{ readonly askedAt: number }>();
  #peak = { ms: 0, at: 0 };
  /** What it sent that cannot be read. */
  readonly unread = new Unread();
  readonly #isSlow = new StickyThreshold();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Records a request that was delayed by `waitedMs`. Returns a function to call when it has ended:
   * without an outcome if it was given up. Only the first call counts.
   */
  asked(waitedMs: number): (outcome?: RequestOutcome) => void {
    this.#counts.requests += 1;
    const index = this.#currentSlot() % SLOTS;
    this.#slots[index] = (this.#slots[index] ?? 0) + 1;
    this.#counts.waitedMs += Math.max(0, waitedMs);
    const request = { askedAt: this.#clock.monotonic() };
    this.#open.add(request);
    return (outcome) => {
      if (!this.#open.delete(request) || outcome === undefined) return;
      const at = this.#clock.monotonic();
      this.#peak = { ms: Math.max(this.#remembered(at), at - request.askedAt), at };
      if (outcome === "good") this.heard();
      else if (outcome === "refused") this.#counts.refused += 1;
      else this.#counts.errors += 1;
    };
  }

  /**
   * How long it recently took to answer: the slowest answer, whose memory halves every ten seconds,
   * or the wait for an answer that is due (peak EWMA, as in Finagle's load balancer).
   */
  get latencyMs(): number {
    const now = this.#clock.monotonic();
    const [oldest] = this.#open;
    return Math.max(this.#remembered(now), now - (oldest?.askedAt ?? now));
  }

  /** Says that it is slow, as the second half of a sentence; `undefined` if it is not. */
  get slowness(): string | undefined {
    return this.#isSlow.isAbove(this.latencyMs, SLOW_MS)
      ? `takes more than ${SLOW_MS / 1_000} s to answer`
      : undefined;
  }

  /** Returns what a probe found, with the service's slowness if it is slow. */
  remark(found: string): string {
    const { slowness } = this;
    return slowness === undefined ? found : `${found}; but it ${slowness}`;
  }

  /** Returns the number of requests in the last five minutes, in steps of 10 s. */
  recent(): number {
    this.#currentSlot();
    return this.#slots.reduce((sum, requests) => sum + requests);
  }

  /** Records that useful data arrived. */
  heard(): void {
    this.#goodAt = this.#clock.monotonic();
  }

  report(part: string, service: string, isUp: boolean): ServiceReport {
    const ageMs = this.#goodAt === undefined ? undefined : this.#clock.monotonic() - this.#goodAt;
    return {
      part,
      service,
      isUp,
      ageMs,
      latencyMs: this.latencyMs,
      unreadable: this.unread.counts,
      ...this.#counts,
    };
  }

  #remembered(now: number): number {
    return this.#peak.ms * 0.5 ** ((now - this.#peak.at) / HALF_LIFE_MS);
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
