import type { Clock } from "../../../base/lib/time/clock.ts";
import { SECOND_MS } from "../../../base/lib/time/time.ts";
import { waitAtMost } from "../../../base/lib/time/wait-at-most.ts";
import { RpcFailure } from "./rpc-failure.ts";

/** How long one endpoint may take before a second one is asked too. */
const HEDGE_AFTER_MS = SECOND_MS;
/** Hedges are at most this share of all work, so that they cannot double the load. */
const HEDGE_SHARE = 0.1;
/** Number of hedges that may be saved up. */
const MAX_HEDGES = 10;

/**
 * How long to wait for an endpoint that confirms another one's answer, once that is there. One that
 * takes longer counts as one that does not respond.
 */
export const CONFIRM_MS = 2 * SECOND_MS;

/** What is known of an endpoint: see Endpoint. */
interface Candidate {
  readonly slowSteps: number;
  readonly load: readonly [delay: number, requests: number];
}

type Ended<T> = { readonly attempt: Promise<Ended<T>> } & (
  | { readonly value: T }
  | { readonly error: unknown }
);

/** Asks a second endpoint when the first one is slow, within limits. */
export class Hedges {
  readonly #clock: Clock;
  #left = MAX_HEDGES;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Runs work at the candidates in order until it succeeds at one. If that takes more than a
   * second, also runs it at the next candidate that is neither slow nor throttled, and returns what
   * succeeds first. Rejects with the last RpcFailure, or at once with any other error.
   *
   * @param candidates Called again for each step, because an endpoint may get the data later.
   */
  async firstOf<E extends Candidate, T>(
    candidates: () => readonly E[],
    signal: AbortSignal,
    work: (endpoint: E) => Promise<T>,
  ): Promise<T> {
    this.#left = Math.min(MAX_HEDGES, this.#left + HEDGE_SHARE);
    const tried = new Set<E>();
    const running = new Set<Promise<Ended<T>>>();
    const start = (endpoint: E) => {
      tried.add(endpoint);
      const attempt: Promise<Ended<T>> = work(endpoint).then(
        (value) => ({ attempt, value }),
        (error: unknown) => ({ attempt, error }),
      );
      running.add(attempt);
    };
    let last = new RpcFailure("failed", "no endpoint is available");
    for (;;) {
      if (running.size === 0) {
        const next = candidates().find((endpoint) => !tried.has(endpoint));
        if (!next) throw last;
        start(next);
      }
      const ending = Promise.race(running);
      const mayHedge = running.size === 1 && this.#left >= 1;
      const ended = mayHedge ? await waitAtMost(ending, HEDGE_AFTER_MS, this.#clock, signal) : await ending;
      if (!ended) {
        const second = candidates().find((endpoint) => !tried.has(endpoint) && isFree(endpoint));
        if (!second) continue;
        this.#left -= 1;
        start(second);
      } else if ("value" in ended) return ended.value;
      else {
        signal.throwIfAborted();
        if (!(ended.error instanceof RpcFailure)) throw ended.error;
        last = ended.error;
        running.delete(ended.attempt);
      }
    }
  }
}

function isFree({ slowSteps, load: [delay] }: Candidate): boolean {
  return slowSteps === 0 && delay === 0;
}
