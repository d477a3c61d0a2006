import { type Failure, requestJson } from "../../lib/io/request-json.ts";
import { backOffMs } from "../../lib/time/back-off.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ServiceReport } from "../feed.ts";
import { ServiceTally } from "./service-tally.ts";

/** An answer that is JSON and yet not what was asked for. The message says where it departs, as the second half of a sentence. */
export class UnexpectedAnswer extends Error {
  override readonly name = "UnexpectedAnswer";
}

/** What became of a question. */
type Asked<T> =
  | { readonly kind: "told"; readonly value: T }
  /** There is nothing of that name. */
  | { readonly kind: "absent" }
  /** No use, and asking again at once would hardly help; or failed as often as was tried. */
  | { readonly kind: "failed"; readonly reason: string };

/** A question. */
interface Question<T> {
  readonly url: string;
  readonly method?: "GET" | "POST";
  /** Makes the value out of the body. Throws {@link UnexpectedAnswer} for one that is not what was asked for. */
  readonly read: (body: unknown) => T;
  /** How often it is asked where the service fails, at least 1. Default 5. */
  readonly tries?: number;
}

/** Options of {@link ServiceClient}. */
export interface ServiceOptions {
  readonly clock: Clock;
  /** Least milliseconds between the starts of two requests. */
  readonly pauseMs: number;
  /** Most milliseconds of a request. Default 10,000. */
  readonly timeoutMs?: number;
  /** Most bytes of an answer. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds for which the service, by the headers of its answer, wants to be left alone; `undefined`: it does not say. */
  readonly quota?: (headers: Headers, nowMs: number) => number | undefined;
  /** Yields [0, 1), for the back-off. Default `Math.random`. */
  readonly random?: () => number;
  /** Default: the runtime's own. */
  readonly fetch?: typeof fetch;
  /** Told when the service stops answering as it should, with the reason, and when it does so again (`undefined`). Never of addresses, which may hold a key. */
  readonly onHealth?: (trouble: string | undefined) => void;
}

/**
 * Asks one service of strangers, and minds it: requests start no closer than it allows, its `Retry-After` and the quota that its headers
 * tell are kept, and after a failure nothing is asked until a growing time with jitter has passed, then one request alone, and all others
 * wait for that one (a circuit breaker). A service that is down costs whoever waits for it, and nobody else.
 */
export class ServiceClient {
  readonly #options: ServiceOptions;
  /** Monotonic time before which no request starts. */
  #notBefore = 0;
  #failures = 0;
  #trouble: string | undefined;
  #turn: Promise<void> = Promise.resolve();
  readonly #tally: ServiceTally;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#tally = new ServiceTally(options.clock);
  }

  /** How the service fares; `trouble`: why it is down, where more is known of it than its answers say. */
  report(part: string, service: string, trouble = this.#trouble): ServiceReport {
    return this.#tally.report(part, service, trouble === undefined);
  }

  /** The service said something of use by another way. */
  heard(): void {
    this.#tally.heard();
  }

  /** Why the last request brought nothing; `undefined` while the service answers. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Asks, and asks again where the service fails. Rejects only with the signal's reason, and with what `read` throws beside {@link UnexpectedAnswer}. */
  async ask<T>(question: Question<T>, signal: AbortSignal): Promise<Asked<T>> {
    for (let left = question.tries ?? 5; ; left -= 1) {
      const { asked, mayPass } = await this.#askOnce(question, signal);
      if (left <= 1 || !mayPass) return asked;
    }
  }

  async #askOnce<T>(
    { url, method = "GET", read }: Question<T>,
    signal: AbortSignal,
  ): Promise<{ readonly asked: Asked<T>; readonly mayPass: boolean }> {
    const wantedAt = this.#options.clock.monotonic();
    const release = await this.#takeTurn(signal);
    this.#tally.asked(this.#options.clock.monotonic() - wantedAt);
    try {
      // While the service is in trouble, the turn is kept until it has answered: the others wait for what this one finds.
      if (this.#failures === 0) release();
      const {
        clock,
        timeoutMs = 10_000,
        maxBytes = 16 * 1024 * 1024,
        fetch = globalThis.fetch,
      } = this.#options;
      const answer = await requestJson(url, undefined, { fetch, clock, timeoutMs, maxBytes, method }, signal);
      if (answer.kind === "fresh" || answer.kind === "absent") {
        const { quota } = this.#options;
        const asked: Asked<T> =
          answer.kind === "fresh" ? { kind: "told", value: read(answer.body) } : { kind: "absent" };
        this.#succeed();
        if (answer.kind === "fresh") this.#rest(quota?.(answer.headers, clock.now()) ?? 0);
        return { asked, mayPass: false };
      }
      const failure: Failure =
        answer.kind === "unchanged" ? { reason: "answered 304 without being asked" } : answer.failure;
      this.#tally.ended(failure.isRate ? "refused" : "failed");
      this.#fail(failure.reason, failure.retryAfterMs);
      return { asked: { kind: "failed", reason: failure.reason }, mayPass: answer.kind === "failed" };
    } catch (error) {
      if (!(error instanceof UnexpectedAnswer)) throw error;
      this.#tally.ended("failed");
      this.#fail(error.message, undefined);
      return { asked: { kind: "failed", reason: error.message }, mayPass: false };
    } finally {
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
    this.#tally.ended("good");
    this.#failures = 0;
    this.#tell(undefined);
  }

  #fail(reason: string, retryAfterMs: number | undefined): void {
    this.#failures += 1;
    this.#rest(Math.max(retryAfterMs ?? 0, backOffMs(this.#failures, this.#options.random ?? Math.random)));
    this.#tell(reason);
  }

  #rest(ms: number): void {
    this.#notBefore = Math.max(this.#notBefore, this.#options.clock.monotonic() + ms);
  }

  #tell(trouble: string | undefined): void {
    const isNews = (trouble === undefined) !== (this.#trouble === undefined);
    this.#trouble = trouble;
    if (isNews) this.#options.onHealth?.(trouble);
  }
}

async function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
