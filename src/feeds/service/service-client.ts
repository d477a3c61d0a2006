import type { Probe } from "../../base/lib/probe.ts";
import { backOffMs } from "../../base/lib/time/back-off.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { untilAborted } from "../../base/lib/time/until-aborted.ts";
import type { ServiceReport } from "../../gateway/source/index.ts";
import { type Failure, requestJson } from "./request-json.ts";
import { ServiceTally } from "./service-tally.ts";
import type { Unread } from "./unread.ts";

/**
 * A service returned no usable value. The message states the reason as the second half of a
 * sentence.
 */
export class UnexpectedAnswer extends Error {
  override readonly name = "UnexpectedAnswer";
}

/**
 * A valid answer that rejects one kind of request while others work, so it is not a failure of the
 * service. The message states the reason as the second half of a sentence.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

type Outcome<T> =
  | { readonly kind: "ok"; readonly value: T }
  /** Nothing is served at this address, or not with this method. */
  | { readonly kind: "absent"; readonly reason: string }
  /** See {@link Refusal}. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Failed in a way that a retry would not solve, or too often. `isRate`: by a rate limit. */
  | { readonly kind: "failed"; readonly reason: string; readonly isRate?: boolean | undefined };

interface ServiceRequest<T> {
  readonly url: string;
  readonly method?: "GET" | "POST";
  /**
   * Converts the body to the value, and counts what it cannot read. Throws
   * {@link UnexpectedAnswer} or {@link Refusal}.
   */
  readonly read: (body: unknown, unread: Unread) => T;
  /** Maximum number of attempts, at least 1. Default 5. */
  readonly tries?: number;
}

export interface ServiceOptions {
  readonly clock: Clock;
  /** Minimum milliseconds between the starts of two requests. */
  readonly pauseMs: number;
  /** Timeout of a request in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** Maximum size of an answer in bytes. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Headers of each request, which may contain a key. `accept` is application/json by default. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns the milliseconds to wait according to a valid answer's headers. Default: no wait. */
  readonly quota?: (headers: Headers, nowMs: number) => number | undefined;
  /** Returns [0, 1), for the back-off. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  readonly fetch?: typeof fetch | undefined;
  /**
   * Called with the reason, without addresses, when the service starts to fail, and with
   * `undefined` when it has recovered.
   */
  readonly onHealth?: (trouble: string | undefined) => void;
}

/**
 * Sends requests to one service within its limits: its interval, `Retry-After` and quota. After a
 * failure, all requests pause for a growing time. Then a single one tests whether the service works
 * again (a circuit breaker).
 */
export class ServiceClient {
  readonly #options: ServiceOptions;
  /** Monotonic time of the earliest next request. */
  #notBefore = 0;
  #failures = 0;
  #trouble: string | undefined;
  #turn: Promise<void> = Promise.resolve();
  readonly #tally: ServiceTally;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#tally = new ServiceTally(options.clock);
  }

  /**
   * Returns the service's state. It counts as up if `trouble` is `undefined`. Default: the trouble
   * of the last request.
   */
  report(part: string, service: string, trouble = this.#trouble): ServiceReport {
    return this.#tally.report(part, service, trouble === undefined);
  }

  /** Records that useful data arrived in another way. */
  heard(): void {
    this.#tally.heard();
  }

  /** Why the last request failed; `undefined` while the service responds. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** What is wrong with it: `trouble`, or else that it is unreadable or slow, in such words. */
  get complaint(): string | undefined {
    return this.#trouble ?? this.unread.complaint ?? this.#tally.slowness;
  }

  /** Returns the probe with a result that says if the service is slow. */
  remarked<P extends Pick<Probe, "run">>(probe: P): P {
    return { ...probe, run: async (signal) => this.#tally.remark(await probe.run(signal)) };
  }

  /** What the service sent that cannot be read. */
  get unread(): Unread {
    return this.#tally.unread;
  }

  /**
   * Sends a request, with retries if the service fails. Rejects only with the signal's reason and
   * with errors of `read` other than {@link UnexpectedAnswer} and {@link Refusal}.
   */
  async ask<T>(request: ServiceRequest<T>, signal: AbortSignal): Promise<Outcome<T>> {
    for (let left = request.tries ?? 5; ; left -= 1) {
      const { outcome, mayRetry } = await this.#sendOnce(request, signal);
      if (left <= 1 || !mayRetry) return outcome;
    }
  }

  /** Sends a request once. Rejects with {@link UnexpectedAnswer} unless there is a value. */
  async require<T>(request: Omit<ServiceRequest<T>, "tries">, signal: AbortSignal): Promise<T> {
    const outcome = await this.ask({ ...request, tries: 1 }, signal);
    if (outcome.kind === "ok") return outcome.value;
    throw new UnexpectedAnswer(outcome.reason);
  }

  async #sendOnce<T>(
    { url, method = "GET", read }: ServiceRequest<T>,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: Outcome<T>; readonly mayRetry: boolean }> {
    const wantedAt = this.#options.clock.monotonic();
    const release = await this.#takeTurn(signal);
    const ended = this.#tally.asked(this.#options.clock.monotonic() - wantedAt);
    try {
      // While the service fails, keep the turn until it responds, so that other requests wait.
      if (this.#failures === 0) release();
      const {
        clock,
        timeoutMs = 10_000,
        maxBytes = 16 * 1024 * 1024,
        fetch = globalThis.fetch,
        headers = {},
      } = this.#options;
      const answer = await requestJson(
        url,
        undefined,
        { fetch, clock, timeoutMs, maxBytes, method, headers },
        signal,
      );
      if (answer.kind === "fresh" || answer.kind === "absent") {
        const { quota } = this.#options;
        const outcome: Outcome<T> =
          answer.kind === "fresh"
            ? { kind: "ok", value: read(answer.body, this.unread) }
            : { kind: "absent", reason: answer.failure.reason };
        ended("good");
        this.#succeed();
        if (answer.kind === "fresh") this.#rest(quota?.(answer.headers, clock.now()) ?? 0);
        return { outcome, mayRetry: false };
      }
      const failure: Failure =
        answer.kind === "unchanged" ? { reason: "returned 304 to an unconditional request" } : answer.failure;
      const { reason, isRate, retryAfterMs } = failure;
      ended(isRate ? "refused" : "failed");
      this.#fail(reason, retryAfterMs);
      return { outcome: { kind: "failed", reason, isRate }, mayRetry: answer.kind === "failed" };
    } catch (error) {
      if (error instanceof Refusal) {
        ended("refused");
        this.#succeed();
        return { outcome: { kind: "refused", reason: error.message }, mayRetry: false };
      }
      if (!(error instanceof UnexpectedAnswer)) throw error;
      ended("failed");
      this.#fail(error.message, undefined);
      return { outcome: { kind: "failed", reason: error.message }, mayRetry: false };
    } finally {
      ended();
      release();
    }
  }

  async #takeTurn(signal: AbortSignal): Promise<() => void> {
    const before = this.#turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turn = before.then(() => promise);
    try {
      await untilAborted(before, signal);
      const { clock, pauseMs } = this.#options;
      for (let waitMs = 1; waitMs > 0; ) {
        waitMs = this.#notBefore - clock.monotonic();
        if (waitMs > 0) await clock.sleep(waitMs, signal);
      }
      this.#notBefore = clock.monotonic() + pauseMs;
      return resolve;
    } catch (error) {
      resolve();
      throw error;
    }
  }

  #succeed(): void {
    this.#failures = 0;
    this.#report(undefined);
  }

  #fail(reason: string, retryAfterMs: number | undefined): void {
    this.#failures += 1;
    this.#rest(Math.max(retryAfterMs ?? 0, backOffMs(this.#failures, this.#options.random ?? Math.random)));
    this.#report(reason);
  }

  #rest(ms: number): void {
    this.#notBefore = Math.max(this.#notBefore, this.#options.clock.monotonic() + ms);
  }

  #report(trouble: string | undefined): void {
    const isChange = (trouble === undefined) !== (this.#trouble === undefined);
    this.#trouble = trouble;
    if (isChange) this.#options.onHealth?.(trouble);
  }
}
