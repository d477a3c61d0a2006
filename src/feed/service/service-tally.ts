import type { Clock } from "../../lib/time/clock.ts";
import type { ServiceReport } from "../feed.ts";

/** The outcome of a request: useful, refused (too many, or not supported), or failed. */
export type RequestOutcome = "good" | "refused" | "failed";

/** Counts the requests to an external service by outcome. */
export class ServiceTally {
  readonly #clock: Clock;
  #requests = 0;
  #errors = 0;
  #refused = 0;
  #waitedMs = 0;
  #goodAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  asked(waitedMs: number): void {
    this.#requests += 1;
    this.#waitedMs += Math.max(0, waitedMs);
  }

  ended(outcome: RequestOutcome): void {
    if (outcome === "good") this.heard();
    else if (outcome === "refused") this.#refused += 1;
    else this.#errors += 1;
  }

  heard(): void {
    this.#goodAt = this.#clock.monotonic();
  }

  report(part: string, service: string, isUp: boolean): ServiceReport {
    const ageMs = this.#goodAt === undefined ? undefined : this.#clock.monotonic() - this.#goodAt;
    return {
      ...{ part, service, isUp, ageMs, requests: this.#requests, errors: this.#errors },
      ...{ refused: this.#refused, waitedMs: this.#waitedMs },
    };
  }
}
