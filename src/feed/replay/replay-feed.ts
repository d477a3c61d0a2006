import { InputError } from "../../lib/input-error.ts";
import { messageOf } from "../../lib/text/message-of.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { MarketEvent, MarketGroup } from "../../market/index.ts";
import type { Feed } from "../feed.ts";
import { EventScript } from "./event-script.ts";
import { Flow } from "./flow.ts";
import { PairBook } from "./pair-book.ts";
import { CandleCsvParser } from "./read/candle-csv.ts";
import { EventNdjsonParser } from "./read/event-ndjson.ts";
import { LineSplitter } from "./read/line-splitter.ts";
import { readProfiles, type TokenProfiles } from "./read/profiles-file.ts";
import { BytesEndedError, readBytes } from "./read/read-bytes.ts";
import { type OnSkipped, SkipCounter, type SkipReason } from "./read/skips.ts";
import { type RecordingFormat, type RecordingHead, sniffRecording } from "./read/sniff-recording.ts";
import { Timeline } from "./timeline.ts";

/** How far a replay has come. */
export interface ReplayProgress {
  /** Bytes of the file (as it lies on disk) read in this lap. */
  readonly bytesRead: number;
  readonly bytesTotal: number;
  /** Events given out over all laps; the passing of time is not counted. */
  readonly events: number;
  /** Event time reached; 0 before the first event. */
  readonly observedAtMs: number;
}

/** Where a replay goes on that was broken off. The events that follow are the same, to the byte, as if it had not been. */
export interface ReplayResume {
  /** Event time of the `clock` event that was told last: the first event told is the one behind it. */
  readonly afterMs: number;
  /** Up to here all is told at full speed: somebody has been there already. */
  readonly catchUpToMs: number;
}

/** How a recording is replayed. */
export interface ReplayOptions {
  /** The recording: a regular file, gzip or not (its first bytes decide, not its name), or a directory with the manifest of one. */
  readonly path: string;
  /** `auto` (the default) takes a file whose first character is `{` for NDJSON, any other for CSV. */
  readonly format?: RecordingFormat | "auto";
  /** Group of the pairs of a CSV whose profile names none. Default: `exchange`. The events of NDJSON carry their own. */
  readonly group?: MarketGroup;
  /** A profiles file (`ProfilesFile`) beside the recording. */
  readonly profilesPath?: string;
  /** Event seconds per wall second, above 0. Default: 1, real time. Infinity: as fast as the consumer takes them. */
  readonly speed?: number;
  /** Start again at the end, each lap later in event time (`lapLengthMs`). Default: false. */
  readonly loop?: boolean;
  /** Event milliseconds from the recording's first event that run at full speed before pacing begins. Default: 0. */
  readonly warmupMs?: number;
  /** Go on in the middle, as if this had been there before: see {@link ReplayResume}. Default: from the first event. */
  readonly resume?: ReplayResume;
  readonly clock: Clock;
  /** Called now and then, at most ten times a second, and at the end. */
  readonly onProgress?: (progress: ReplayProgress) => void;
  /**
   * Called for lines that are left out: for the first five of each reason, with what is wrong; and at the end of the first lap, for
   * each reason that had more, with their number. Later laps skip the same lines silently.
   */
  readonly onSkipped?: OnSkipped;
}

/** A replay, with its account of what it left out. */
export interface ReplayFeed extends Feed {
  /** Lines of the first lap left out so far, by reason. */
  skipped(): Partial<Record<SkipReason, number>>;
}

const PROGRESS_EVERY_MS = 100;

/** True for every event up to the `clock` of this time, that one included. */
function passedUntil(afterMs: number): (event: MarketEvent) => boolean {
  let passed = false;
  return (event) => {
    if (passed) return false;
    passed = event.kind === "clock" && event.at >= afterMs;
    return true;
  };
}

/**
 * A feed out of a recorded file: candles as CSV or market events as NDJSON, both described in `RECORDING.md`, at any speed. The same
 * file and profiles give the same events, ticks included, whatever the speed and however slow the consumer.
 *
 * Lines that cannot be used are skipped, counted and reported; the rest goes on. Throws `InputError` at once when the file or its
 * profiles cannot be read or are of another form, and `RangeError` for a speed or warm-up out of bounds. `events` throws `InputError`
 * when the packed data is cut or damaged, after it has given out all that came before, and when no line of the file can be used.
 */
export function createReplayFeed(options: ReplayOptions): ReplayFeed {
  const { speed = 1, warmupMs = 0 } = options;
  if (!(speed > 0))
    throw new RangeError(`speed ${speed} must be above 0 event seconds per second; Infinity is full speed`);
  if (!(warmupMs >= 0)) throw new RangeError(`warmupMs ${warmupMs} must be 0 or more`);
  const head = sniffRecording(options.path, options.format ?? "auto");
  const profiles = options.profilesPath === undefined ? undefined : readProfiles(options.profilesPath);
  return new FileReplay(options, head, profiles);
}

class FileReplay implements ReplayFeed {
  readonly name = "replay";
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
  /** The file that is read, or was read last. */
  #readingPath = "";
  #progressAt = Number.NEGATIVE_INFINITY;

  constructor(options: ReplayOptions, head: RecordingHead, profiles: TokenProfiles | undefined) {
    this.#options = options;
    this.#sizeBytes = head.sizeBytes;
    this.#parts = head.parts;
    this.#timeline = new Timeline(head.hasOwnClocks);
    this.origin = head.origin;
    this.facts = { ...head.facts, profiles: head.facts.profiles || profiles !== undefined };
    this.#skips = new SkipCounter(options.onSkipped);
    const known: TokenProfiles = profiles ?? new Map();
    const parser =
      head.format === "csv"
        ? new CandleCsvParser(new PairBook(options.group ?? "exchange", known), this.#timeline, known)
        : new EventNdjsonParser(this.#timeline, known);
    this.#script = new EventScript(options.path, parser, this.#timeline, this.#skips);
  }

  skipped(): Partial<Record<SkipReason, number>> {
    return this.#skips.totals();
  }

  async *events(signal: AbortSignal): AsyncGenerator<MarketEvent> {
    if (this.#started) throw new Error("a replay is iterated at most once: create another one");
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
      failure ??= this.#script.told === 0 ? this.#nothingUsed() : undefined;
      this.#script.reportUnused();
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

  /** The pace from the first event that is told, at this time, on. */
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

  /** The events of a lap, as many at once as one read gives. */
  async *#reads(): AsyncGenerator<Iterable<MarketEvent>> {
    for await (const lines of this.#lines()) yield this.#script.read(lines);
    yield this.#script.endLap();
  }

  /** The recording's lines, as many at once as one read gives. What follows the last line end of a cut file is no line. */
  async *#lines() {
    let before = 0;
    for (const { path, isOpen } of this.#parts) {
      const splitter = new LineSplitter();
      let read = 0;
      const onRead = (bytes: number) => {
        read = bytes;
        this.#bytesRead = before + bytes;
      };
      this.#readingPath = path;
      this.#script.beginPart();
      try {
        for await (const bytes of readBytes(path, onRead)) yield splitter.push(bytes);
        yield splitter.finish();
      } catch (error) {
        // Whoever wrote it was killed, or is still at it: that is no fault of the recording.
        if (!isOpen || !(error instanceof BytesEndedError) || error.how === "unreadable") throw error;
        this.#script.noteTorn(`${path} ends in a member that is not whole`);
      }
      before += read;
    }
  }

  #failureOf(error: unknown): InputError {
    if (error instanceof InputError) return error;
    if (!(error instanceof BytesEndedError)) throw error;
    const { line } = this.#script;
    const reason = {
      cut: `the file is cut after line ${line}: its packed data ends early`,
      damaged: `the file's packed data is damaged after line ${line} (${messageOf(error)})`,
      unreadable: `the file cannot be read on after line ${line} (${messageOf(error)})`,
    }[error.how];
    return new InputError(this.#readingPath, reason, { line, cause: error });
  }

  #nothingUsed(): InputError {
    const counts = Object.entries(this.#skips.totals()).map(([reason, count]) => `${count} ${reason}`);
    const why = counts.length === 0 ? "it has no line of data" : `skipped: ${counts.join(", ")}`;
    return new InputError(this.#options.path, `no line of the file can be used; ${why}`);
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
      events: this.#script.told,
      observedAtMs: this.#timeline.latest,
    });
  }
}
