import { InputError } from "../../lib/input-error.ts";
import { DAY_MS, MINUTE_MS } from "../../lib/time/time.ts";
import type { MarketEvent } from "../../market/index.ts";
import { Jump, type LineAhead } from "./jump.ts";
import type { LineParser } from "./read/line-parser.ts";
import { type Line, MAX_LINE_CHARS } from "./read/line-splitter.ts";
import type { SkipCounter, SkipReason } from "./read/skips.ts";
import { LATEST_AT_MS, type Timeline } from "./timeline.ts";

/** From this span on a lap takes whole days, so that a recorded day stays on the clock's hours. */
const WHOLE_DAYS_FROM_MS = DAY_MS / 2;

/**
 * How far each lap lies after the one before: the span from first to last event, rounded up to whole days, or to whole minutes
 * when it is under 12 hours; always longer than the span, so that no moment is told twice.
 */
export function lapLengthMs(spanMs: number): number {
  const unit = spanMs < WHOLE_DAYS_FROM_MS ? MINUTE_MS : DAY_MS;
  return (Math.floor(spanMs / unit) + 1) * unit;
}

/** Turns the lines of a recording into events with ticks between them, lap after lap. */
export class EventScript {
  readonly #path: string;
  readonly #parser: LineParser;
  readonly #timeline: Timeline;
  readonly #skips: SkipCounter;
  #lap = 0;
  #lapMs = 0;
  #shiftMs = 0;
  #line = 0;
  #begun = false;
  #told = 0;
  readonly #jump = new Jump();

  constructor(path: string, parser: LineParser, timeline: Timeline, skips: SkipCounter) {
    this.#path = path;
    this.#parser = parser;
    this.#timeline = timeline;
    this.#skips = skips;
  }

  /** Lines of this lap so far. */
  get line(): number {
    return this.#line;
  }

  /** Events told so far, ticks not counted. */
  get told(): number {
    return this.#told;
  }

  /** The events of these lines. Throws `InputError` when the first line is not what such a file begins with. */
  *read(lines: readonly Line[]): Generator<MarketEvent> {
    const events: MarketEvent[] = [];
    for (const line of lines) {
      this.#line += 1;
      if (typeof line !== "string") {
        this.#skip("too-long", `${line.chars} characters, most ${MAX_LINE_CHARS}`);
        continue;
      }
      if (line.trim() === "" || (!this.#begun && this.#isHeader(line))) continue;
      const skipped = this.#parser.parse(line, this.#shiftMs, events);
      if (skipped?.at !== undefined) {
        const { at, detail } = skipped;
        this.#skipAhead(this.#jump.add({ line, number: this.#line, at, detail }));
        if (this.#jump.isConfirmed) yield* this.#leap();
        continue;
      }
      // Lines that are in time, or late, show that those ahead have a wrong time.
      if (!skipped || skipped.reason === "late") this.#skipAhead(this.#jump.take());
      if (skipped) this.#skip(skipped.reason, skipped.detail);
      else yield* this.#place(events);
    }
  }

  /** The events of the lines that lie ahead at the end of a lap, where they agree. */
  *endLap(): Generator<MarketEvent> {
    if (this.#jump.isLikely) yield* this.#leap();
    else this.#skipAhead(this.#jump.take());
  }

  /** A gap in the recording ends: the lines behind it are told. */
  *#leap(): Generator<MarketEvent> {
    const events: MarketEvent[] = [];
    this.#timeline.allowLeap();
    for (const { line, number } of this.#jump.take()) {
      const skipped = this.#parser.parse(line, this.#shiftMs, events);
      if (skipped) this.#skip(skipped.reason, skipped.detail, number);
      else yield* this.#place(events);
    }
  }

  /** Tells the events, and the ticks before them; leaves the list empty. */
  *#place(events: MarketEvent[]): Generator<MarketEvent> {
    for (const event of events) {
      this.#told += event.kind === "clock" ? 0 : 1;
      yield* this.#timeline.place(event);
    }
    events.length = 0;
  }

  #skipAhead(lines: readonly LineAhead[]): void {
    for (const { detail, number } of lines) this.#skip("ahead", detail, number);
  }

  /** The lines that follow are those of another file, which may begin with a header. */
  beginPart(): void {
    this.#begun = false;
  }

  /** Notes that what follows this line of the recording is lost. */
  noteTorn(detail: string): void {
    this.#skip("torn", detail);
  }

  /**
   * Goes back to the first line, for the same events a lap later, or for those of the lap that `fromMs` of event time lies in, if that
   * is a later one. `false` when no lap more fits before the year 9999 ends.
   */
  nextLap(fromMs = 0): boolean {
    const first = this.#timeline.first ?? 0;
    if (this.#lap === 0) this.#lapMs = lapLengthMs(this.#timeline.latest - first);
    const lap = Math.max(this.#lap + 1, Math.floor((fromMs - first) / this.#lapMs));
    const leftOutMs = (lap - this.#lap - 1) * this.#lapMs;
    if (leftOutMs > 0) {
      this.#timeline.advance(leftOutMs);
      this.#parser.advance(leftOutMs);
    }
    this.#lap = lap;
    this.#shiftMs = lap * this.#lapMs;
    this.#line = 0;
    this.#begun = false;
    return this.#timeline.latest + this.#lapMs <= LATEST_AT_MS;
  }

  /** The tick that closes the last second. */
  close(): Generator<MarketEvent> {
    return this.#timeline.close();
  }

  /** What the end of the first lap shows: profiles of tokens that never came. Reported once. */
  reportUnused(): void {
    if (this.#lap > 0) return;
    for (const name of this.#parser.unusedProfiles()) {
      this.#skips.add(
        { reason: "profile-unused", detail: `no line has the token ${JSON.stringify(name)}` },
        0,
      );
    }
    this.#skips.summarise();
  }

  #isHeader(line: string): boolean {
    this.#begun = true;
    const kind = this.#parser.firstLine(line);
    if (typeof kind === "object") throw new InputError(this.#path, kind.problem, { line: this.#line });
    return kind === "header";
  }

  /** Each lap would skip the same lines again: only the first one counts. */
  #skip(reason: SkipReason, detail: string, line = this.#line): void {
    if (this.#lap === 0) this.#skips.add({ reason, detail }, line);
  }
}
