import { backOffMs } from "../../base/lib/time/back-off.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { Snapshot } from "../../base/model/index.ts";
import { FlarewireError, type Freshness, type SourceInfo } from "../../base/protocol/index.ts";
import type { Poll, SnapshotSource } from "../../gateway/source/index.ts";
import type { Failure } from "../service/request-json.ts";
import { ServiceTally } from "../service/service-tally.ts";
import { UpstreamDoubt } from "./upstream-doubt.ts";
import { judgeUpstream } from "./upstream-freshness.ts";
import { type Reading, UpstreamReader } from "./upstream-reader.ts";
import { type UpstreamCounts, type UpstreamReport, UpstreamReports } from "./upstream-reports.ts";
import { DEFAULT_STATUS, type UpstreamStatus } from "./upstream-status.ts";
import { type NeverFlaredId, UpstreamView } from "./upstream-view.ts";

export interface UpstreamOptions {
  /** The service's address with any path before `/api/v1`; no user name, query or fragment. */
  readonly url: string;
  /** Interval between the starts of good polls, in milliseconds. Default: 1,000. */
  readonly intervalMs?: number;
  /** Timeout of each request including its body, in milliseconds. Default: 5,000. */
  readonly timeoutMs?: number;
  /** Maximum size of a body after decompression, in bytes. Default: 16 MiB. */
  readonly maxBytes?: number;
  /** Age in ms from which data is not `live`; above `intervalMs`. Default: 10,000. */
  readonly staleAfterMs?: number;
  /** An earlier process's last publication. The first response is checked against it. */
  readonly resume?: Snapshot | undefined;
  readonly clock: Clock;
  /** Yields [0, 1) for the back-off. Default: `Math.random`. */
  readonly random?: () => number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Returns the id of a token's nested flare before its first flare. */
  readonly neverFlaredId: NeverFlaredId;
  /** Receives a limited number of reports. `poll` rejects with whatever it throws. */
  readonly onInvalid?: (report: UpstreamReport) => void;
}

/** Counts since the source's start. */
export interface UpstreamStats extends UpstreamCounts {
  /** Polls with a complete response. */
  readonly succeeded: number;
  /** Polls that failed completely or in part. */
  readonly failed: number;
  /** Responses with status 304. */
  readonly notModified: number;
  /** Responses that were not fully accepted, because they lacked items in an implausible way. */
  readonly doubted: number;
}

/**
 * A snapshot source from a service with the same API. It never ends or fails: a poll retries with
 * back-off, and {@link SnapshotSource.freshness} reports the trouble. Invalid parts keep their last
 * valid version (see readList), missing items stay until confirmed (see {@link UpstreamDoubt}).
 *
 * `observedAtMs` is the upstream's, or the wall time of the poll with the four resources, which
 * have none. If it is invalid, the previous one is used. Does not check `url`. Polls must not
 * overlap.
 */
export class UpstreamSource implements SnapshotSource {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #intervalMs: number;
  readonly #staleAfterMs: number;
  readonly #reports: UpstreamReports;
  readonly #reader: UpstreamReader;
  readonly #tally: ServiceTally;
  readonly #doubt = new UpstreamDoubt();
  readonly #view: UpstreamView;
  #polling = false;
  /** Monotonic time of the next poll. */
  #dueAtMs = 0;
  #snapshot: Snapshot | undefined;
  #observedAtMs: number | undefined;
  /** Monotonic time of the last complete, accepted response; initially the start. */
  #heardAtMs: number;
  #lastSuccessAtMs: number | undefined;
  #status: UpstreamStatus = DEFAULT_STATUS;
  #trouble: string | undefined;
  #partly = false;
  #failuresInRow = 0;
  readonly #stats = { succeeded: 0, failed: 0, doubted: 0 };
  #info: SourceInfo = { name: "upstream", origin: DEFAULT_STATUS.origin, facts: DEFAULT_STATUS.facts };

  constructor(options: UpstreamOptions) {
    this.#clock = options.clock;
    this.#snapshot = options.resume;
    this.#view = new UpstreamView(options.neverFlaredId);
    this.#tally = new ServiceTally(options.clock);
    this.#random = options.random ?? Math.random;
    this.#intervalMs = options.intervalMs ?? 1_000;
    this.#staleAfterMs = options.staleAfterMs ?? 10_000;
    this.#reports = new UpstreamReports(options.clock, options.onInvalid ?? (() => {}));
    this.#reader = new UpstreamReader({
      base: options.url.replace(/\/+$/, ""),
      fetch: options.fetch ?? fetch,
      clock: options.clock,
      timeoutMs: options.timeoutMs ?? 5_000,
      maxBytes: options.maxBytes ?? 16 * 1_024 * 1_024,
      reports: this.#reports,
    });
    this.#heardAtMs = options.clock.monotonic();
  }

  get info(): SourceInfo {
    return this.#info;
  }

  async poll(signal: AbortSignal): Promise<Poll> {
    if (this.#polling) throw new FlarewireError("internal", "a poll of the upstream is already in progress");
    this.#polling = true;
    try {
      for (;;) {
        const waitMs = this.#dueAtMs - this.#clock.monotonic();
        if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
        const startedAtMs = this.#clock.monotonic();
        const ended = this.#tally.asked(0);
        const reading = await this.#reader.read(this.#snapshot, signal).finally(() => ended("good"));
        const poll = this.#take(reading, startedAtMs);
        if (poll) return poll;
      }
    } finally {
      this.#polling = false;
    }
  }

  freshness(): Freshness {
    return judgeUpstream({
      silentMs: this.#clock.monotonic() - this.#heardAtMs,
      lastSuccessAtMs: this.#lastSuccessAtMs,
      observedAtMs: this.#status.observedAtMs ?? this.#observedAtMs,
      status: this.#status,
      trouble: this.#trouble,
      partly: this.#partly,
      doubt: this.#doubt.reason(this.#clock.monotonic()),
      slowness: this.#tally.slowness,
      staleAfterMs: this.#staleAfterMs,
    });
  }

  stats(): UpstreamStats {
    return { ...this.#reports.counts, ...this.#stats, notModified: this.#reader.notModified };
  }

  #take(reading: Reading, startedAtMs: number): Poll | undefined {
    const failure = reading.kind === "failed" ? reading.failure : reading.partly;
    this.#partly = reading.kind === "read" && failure !== undefined;
    if (failure) this.#failed(failure);
    else this.#succeeded(startedAtMs);
    if (reading.kind === "failed") return undefined;
    const { status, answered } = reading;
    const nowMs = this.#clock.monotonic();
    const observedAtMs = reading.observedAtMs ?? this.#observedAtMs ?? this.#clock.now();
    const answer = { snapshot: reading.snapshot, observedAtMs, answered, nowMs };
    const { snapshot, isDoubted } = this.#doubt.believe(this.#snapshot, answer);
    this.#snapshot = snapshot;
    this.#status = status;
    this.#info = { name: "upstream", origin: status.origin, facts: status.facts };
    this.#observedAtMs = observedAtMs;
    if (isDoubted) this.#stats.doubted += 1;
    else if (!failure) {
      this.#heardAtMs = nowMs;
      this.#lastSuccessAtMs = this.#clock.now();
    }
    return { observedAtMs, snapshot: this.#view.of(snapshot) };
  }

  #failed({ reason, retryAfterMs }: Failure): void {
    this.#stats.failed += 1;
    this.#failuresInRow += 1;
    this.#trouble = reason;
    this.#dueAtMs = this.#clock.monotonic() + (retryAfterMs ?? backOffMs(this.#failuresInRow, this.#random));
  }

  #succeeded(startedAtMs: number): void {
    this.#stats.succeeded += 1;
    if (this.#failuresInRow > 0) this.#reader.probeSoon();
    this.#failuresInRow = 0;
    this.#trouble = undefined;
    this.#dueAtMs = startedAtMs + this.#intervalMs;
  }
}
