import { InputError } from "../../base/lib/input-error.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { MarketEvent, MarketGroup } from "../../base/market/index.ts";
import type { Feed } from "../../gateway/source/index.ts";
import { EventScript } from "./event-script.ts";
import { Flow } from "./flow.ts";
import { PairRegistry } from "./pair-registry.ts";
import { CandleCsvParser } from "./read/candle-csv.ts";
import { EventNdjsonParser } from "./read/event-ndjson.ts";
import { LineSplitter } from "./read/line-splitter.ts";
import { readProfiles, type TokenProfiles } from "./read/profiles-file.ts";
import { BytesEndedError, readBytes } from "./read/read-bytes.ts";
import { type OnSkipped, SkipCounter, type SkipReason } from "./read/skips.ts";
import { type RecordingFormat, type RecordingHead, sniffRecording } from "./read/sniff-recording.ts";
import { Timeline } from "./timeline.ts";

export interface ReplayProgress {
  /** Bytes of the recording, as on disk, read in this lap. */
  readonly bytesRead: number;
  readonly bytesTotal: number;
  /** Events read in all laps, not counting clocks. */
  readonly events: number;
  /** Event time reached; 0 before the first event. */
  readonly observedAtMs: number;
}

/** Where an interrupted replay resumes, as if it had never stopped. */
export interface ReplayResume {
  /** Event time of the last `clock` that was emitted. The replay resumes with the next event. */
  readonly afterMs: number;
  /** Everything up to this time is emitted at full speed. */
  readonly catchUpToMs: number;
}

export interface ReplayOptions {
  /** The recording: a file, gzip or not, or a directory with a manifest. */
  readonly path: string;
  /** With `auto` (the default), a file whose first character is `{` is NDJSON, any other CSV. */
  readonly format?: RecordingFormat | "auto";
  /**
   * Group of a CSV's pairs whose profile names none. Default: `exchange`. NDJSON events name
   * theirs.
   */
  readonly group?: MarketGroup;
  /** A profiles file (`ProfilesFile`) for the recording. */
  readonly profilesPath?: string;
  /** Event seconds per wall second, above 0. Default: 1, real time. Infinity: unpaced. */
  readonly speed?: number;
  /** Repeat at the end, each lap later in event time (`lapLengthMs`). Default: false. */
  readonly loop?: boolean;
  /**
   * Milliseconds of event time, from the recording's first event on, to emit at full speed.
   * Default: 0.
   */
  readonly warmupMs?: number;
  readonly resume?: ReplayResume;
  readonly clock: Clock;
  /** Called at most ten times per second, and at the end unless the signal aborted. */
  readonly onProgress?: (progress: ReplayProgress) => void;
  /**
   * Called in the first lap for each reason's first five skipped lines, and after that lap with the
   * total of each reason that has more.
   */
  readonly onSkipped?: OnSkipped;
}

const PROGRESS_EVERY_MS = 100;

/** Returns a predicate that is true up to and including the first `clock` at or after this time. */
function passedUntil(afterMs: number): (event: MarketEvent) => boolean {
  let passed = false;
  return (event) => {
    if (passed) return false;
    passed = event.kind === "clock" && event.at >= afterMs;
    return true;
  };
}

/**
 * A feed from a recording, see `RECORDING.md`. Its events depend on the recording, the profiles and
 * the group, never on the speed or the consumer.
 *
 * Unusable lines are skipped, counted and reported. The constructor throws `InputError` if the
 * recording's start or its profiles are unusable. `events` throws `InputError`, after the events so
 * far, if the data is truncated, damaged or unreadable, a part's first line is invalid, or no line
 * is usable.
 */
export class ReplayFeed implements Feed {
  readonly name = "replay";
  /** `csv`: a candle file, whose pairs can be assigned to any group. */
  readonly format: RecordingFormat;
  readonly origin: Feed["origin"];
  readonly facts: Feed["facts"];
  readonly #options: ReplayOptions;
  readonly #sizeBytes: number;
  readonly #skips: SkipCounter;
  readonly #timeline: Timeline;
  readonly #parts: RecordingHead["parts"];
  readonly #script: EventScript;
  #started = false;
  #bytesRead = 0;
  #progressAt = Number.NEGATIVE_INFINITY;

  constructor(options: ReplayOptions) {
    const head = sniffRecording(options.path, options.format ?? "auto");
    const profiles = options.profilesPath === undefined ? undefined : readProfiles(options.profilesPath);
    this.#options = options;
    this.format = head.format;
    this.#sizeBytes = head.sizeBytes;
    this.#parts = head.parts;
    this.#timeline = new Timeline(head.hasOwnClocks);
    this.origin = head.origin;
    this.facts = { ...head.facts, profiles: head.facts.profiles || profiles !== undefined };
    this.#skips = new SkipCounter(options.onSkipped);
    const tokens: TokenProfiles = profiles ?? new Map();
    const parser =
      head.format === "csv"
        ? new CandleCsvParser(new PairRegistry(options.group ?? "exchange", tokens), this.#timeline, tokens)
        : new EventNdjsonParser(this.#timeline, tokens);
    this.#script = new EventScript(parser, this.#timeline, this.#skips);
  }

  /** Returns the number of skipped lines of the first lap so far, by reason. */
  skipped(): Partial<Record<SkipReason, number>> {
    return this.#skips.totals();
  }

  /** Number of events read so far. */
  get played(): number {
    return this.#script.count;
  }

  async *events(signal: AbortSignal): AsyncGenerator<MarketEvent> {
    if (this.#started) throw new Error("a replay can be iterated only once");
    this.#started = true;
    const { loop = false, resume } = this.#options;
    const isPast = resume ? passedUntil(resume.afterMs) : () => false;
    let flow: Flow | undefined;
    let failure: InputError | undefined;
    do {
      try {
        for await (const read of this.#reads()) {
          if (signal.aborted) return;
          for (const event of read) {
            if (isPast(event)) continue;
            flow ??= this.#flow(event.at, signal);
            if (!flow.ready(event.at) && !(await flow.wait(event.at))) return;
            yield event;
          }
        }
      } catch (error) {
        failure = this.#failureOf(error);
      }
      failure ??= this.#script.count === 0 ? this.#noUsableLine() : undefined;
      this.#script.reportLap();
    } while (loop && !failure && !signal.aborted && this.#script.nextLap(resume?.afterMs));
    for (const event of this.#script.close()) {
      if (isPast(event)) continue;
      flow ??= this.#flow(event.at, signal);
      if (!flow.ready(event.at) && !(await flow.wait(event.at))) return;
      yield event;
    }
    this.#progressAt = Number.NEGATIVE_INFINITY;
    this.#progress();
    if (failure) throw failure;
  }

  /** Creates the pacing, which starts with the first emitted event, at `atMs`. */
  #flow(atMs: number, signal: AbortSignal): Flow {
    const { speed = 1, warmupMs = 0, resume, clock } = this.#options;
    const pacedFromMs = Math.max((this.#timeline.first ?? atMs) + warmupMs, resume?.catchUpToMs ?? 0);
    return new Flow({
      speed,
      warmupMs: Math.max(0, pacedFromMs - atMs),
      clock,
      signal,
      onPause: () => this.#progress(),
    });
  }

  async *#reads(): AsyncGenerator<Iterable<MarketEvent>> {
    for await (const lines of this.#lines()) yield this.#script.read(lines);
    yield this.#script.endLap();
  }

  /** Yields the recording's lines, grouped by read, without a truncated last one. */
  async *#lines() {
    let before = 0;
    for (const { path, isOpen } of this.#parts) {
      const splitter = new LineSplitter();
      let read = 0;
      const onRead = (bytes: number) => {
        read = bytes;
        this.#bytesRead = before + bytes;
      };
      this.#script.beginPart(path);
      try {
        for await (const bytes of readBytes(path, onRead)) yield splitter.push(bytes);
        yield splitter.finish();
      } catch (error) {
        // The recording process was killed or is still writing. The recording itself is valid.
        if (!isOpen || !(error instanceof BytesEndedError) || error.how === "unreadable") throw error;
        this.#script.noteTorn(`${path} ends with an incomplete gzip member`);
      }
      before += read;
    }
  }

  #failureOf(error: unknown): InputError {
    if (error instanceof InputError) return error;
    if (!(error instanceof BytesEndedError)) throw error;
    const { path, line } = this.#script.position;
    const reason = {
      cut: `the file is truncated after line ${line}: its packed data ends early`,
      damaged: `the file's packed data is damaged after line ${line} (${messageOf(error)})`,
      unreadable: `cannot read the file after line ${line} (${messageOf(error)})`,
    }[error.how];
    return new InputError(path, reason, { line, cause: error });
  }

  #noUsableLine(): InputError {
    const counts = Object.entries(this.#skips.totals()).map(([reason, count]) => `${count} ${reason}`);
    const why = counts.length === 0 ? "it contains no market events" : `skipped: ${counts.join(", ")}`;
    return new InputError(this.#options.path, `no line of the file is usable; ${why}`);
  }

  #progress(): void {
    const { onProgress, clock } = this.#options;
    if (!onProgress) return;
    const now = clock.monotonic();
    if (now - this.#progressAt < PROGRESS_EVERY_MS) return;
    this.#progressAt = now;
    onProgress({
      bytesRead: this.#bytesRead,
      bytesTotal: this.#sizeBytes,
      events: this.#script.count,
      observedAtMs: this.#timeline.latest,
    });
  }
}
