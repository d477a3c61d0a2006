import type { Failure } from "../../lib/io/request-json.ts";
import { backOffMs } from "../../lib/time/back-off.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Snapshot } from "../../model/index.ts";
import { FlarewireError, type Freshness, type SourceInfo } from "../../protocol/index.ts";
import type { Poll, SnapshotSource } from "../snapshot-source.ts";
import { UpstreamDoubt } from "./upstream-doubt.ts";
import { judgeUpstream } from "./upstream-freshness.ts";
import { type Reading, UpstreamReader } from "./upstream-reader.ts";
import { type UpstreamCounts, type UpstreamReport, UpstreamReports } from "./upstream-reports.ts";
import { NOTHING_TOLD, type Told } from "./upstream-told.ts";
import { UpstreamView } from "./upstream-view.ts";

/** The settings of {@link createUpstreamSource}. */
export interface UpstreamOptions {
  /** Where the other service is: `http://host:8080`, or with the path before `/api/v1`. No user name, query or fragment. */
  readonly url: string;
  /** From the start of one good poll to the start of the next. Default 1,000. */
  readonly intervalMs?: number;
  /** Most milliseconds for a whole answer, headers and body; each request has its own. Default 5,000. */
  readonly timeoutMs?: number;
  /** Most bytes of a body, after decompression. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Data older than this is not `live`. More than `intervalMs`, or it never is. Default 10,000. */
  readonly staleAfterMs?: number;
  /** What a process before this one published last. What the first answer lacks of it is doubted like what later answers lack. */
  readonly resume?: Snapshot;
  readonly clock: Clock;
  /** Yields [0, 1), for the back-off. Default `Math.random`. */
  readonly random?: () => number;
  /** Default: the runtime's own. */
  readonly fetch?: typeof fetch;
  /** Hears of what could not be taken as it was, in bounded number. What it throws, `poll` rejects with. */
  readonly onInvalid?: (report: UpstreamReport) => void;
}

/** What an upstream source has done since its start; each only grows. */
export interface UpstreamStats extends UpstreamCounts {
  /** Polls that brought a whole answer. */
  readonly succeeded: number;
  /** Polls of which all or a part failed. */
  readonly failed: number;
  /** Bodies that a 304 saved. */
  readonly notModified: number;
  /** Answers that lacked so much, without an explanation, that they were not believed in full. */
  readonly doubted: number;
}

/** An upstream as a source, with its counters. */
export interface UpstreamSource extends SnapshotSource {
  stats(): UpstreamStats;
}

/**
 * Another service with this same API as a source of snapshots. Never ends and never fails: a poll waits, tries, and goes on trying
 * with back-off until there is an answer; {@link SnapshotSource.freshness} tells its trouble meanwhile. What of an answer is
 * invalid keeps its last valid version (see readList), and what it lacks stays until its absence is confirmed (see {@link UpstreamDoubt}). Of the four resources, where `/snapshot` is not offered, some may
 * fail: the others go on, and the next poll waits as after a failure.
 *
 * `observedAtMs` is the upstream's; where it has none, the wall time of the poll. It goes back when the upstream begins its market anew.
 *
 * Throws FlarewireError `invalid-setting` when `url` is not an http or https address as described.
 */
export function createUpstreamSource(options: UpstreamOptions): UpstreamSource {
  return new PolledUpstream(options);
}

class PolledUpstream implements UpstreamSource {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #intervalMs: number;
  readonly #staleAfterMs: number;
  readonly #reports: UpstreamReports;
  readonly #reader: UpstreamReader;
  readonly #doubt = new UpstreamDoubt();
  readonly #view = new UpstreamView();
  #polling = false;
  /** Monotonic; the next poll does not start before. */
  #dueAtMs = 0;
  #snapshot: Snapshot | undefined;
  #observedAtMs: number | undefined;
  /** Monotonic: the last whole answer that was believed, at first the start. */
  #heardAtMs: number;
  #lastSuccessAtMs: number | undefined;
  #told: Told = NOTHING_TOLD;
  #trouble: string | undefined;
  #partly = false;
  #failuresInRow = 0;
  readonly #stats = { succeeded: 0, failed: 0, doubted: 0 };
  #info: SourceInfo = { name: "upstream", origin: NOTHING_TOLD.origin, facts: NOTHING_TOLD.facts };

  constructor(options: UpstreamOptions) {
    this.#clock = options.clock;
    this.#snapshot = options.resume;
    this.#random = options.random ?? Math.random;
    this.#intervalMs = options.intervalMs ?? 1_000;
    this.#staleAfterMs = options.staleAfterMs ?? 10_000;
    this.#reports = new UpstreamReports(options.clock, options.onInvalid ?? (() => {}));
    this.#reader = new UpstreamReader({
      base: baseOf(options.url),
      fetch: options.fetch ?? fetch,
      clock: options.clock,
      timeoutMs: options.timeoutMs ?? 5_000,
      maxBytes: options.maxBytes ?? 16 * 1_024 * 1_024,
      reports: this.#reports,
    });
    this.#heardAtMs = options.clock.monotonic();
  }

  /** As the last answer said: see {@link Told}. */
  get info(): SourceInfo {
    return this.#info;
  }

  async poll(signal: AbortSignal): Promise<Poll> {
    if (this.#polling) throw new FlarewireError("internal", "the upstream is being polled already");
    this.#polling = true;
    try {
      for (;;) {
        const waitMs = this.#dueAtMs - this.#clock.monotonic();
        if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
        const startedAtMs = this.#clock.monotonic();
        const reading = await this.#reader.read(this.#snapshot, signal);
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
      observedAtMs: this.#told.observedAtMs ?? this.#observedAtMs,
      told: this.#told,
      trouble: this.#trouble,
      partly: this.#partly,
      doubt: this.#doubt.reason(this.#clock.monotonic()),
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
    const { told, heard } = reading;
    const nowMs = this.#clock.monotonic();
    const observedAtMs = reading.observedAtMs ?? this.#observedAtMs ?? this.#clock.now();
    const answer = { snapshot: reading.snapshot, observedAtMs, heard, nowMs };
    const { snapshot, isDoubted } = this.#doubt.believe(this.#snapshot, answer);
    this.#snapshot = snapshot;
    this.#told = told;
    this.#info = { name: "upstream", origin: told.origin, facts: told.facts };
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

function baseOf(text: string): string {
  const bound =
    "an http or https address without user name, query or fragment, such as http://127.0.0.1:8080";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    // The text itself is left out: what is wrong with it may be that it holds a password.
    throw new FlarewireError("invalid-setting", `the upstream's address is not ${bound}`, {
      field: "url",
      bound,
    });
  }
  return url.href.replace(/\/+$/, "");
}
