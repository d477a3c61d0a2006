import { InputError } from "../../base/lib/input-error.ts";
import { DAY_MS, MINUTE_MS } from "../../base/lib/time/time.ts";
import { LATEST_AT_MS, type MarketEvent } from "../../base/market/index.ts";
import { Jump, type LineAhead } from "./jump.ts";
import type { LineParser } from "./read/line-parser.ts";
import { type Line, MAX_LINE_CHARS } from "./read/line-splitter.ts";
import type { SkipCounter, SkipReason } from "./read/skips.ts";
import type { Timeline } from "./timeline.ts";

/** Recordings at least this long repeat after whole days, which preserves the time of day. */
const WHOLE_DAYS_FROM_MS = DAY_MS / 2;

/**
 * Returns the time from one lap's start to the next: longer than the recording's span, in whole
 * days, or in whole minutes if the span is under 12 hours.
 */
export function lapLengthMs(spanMs: number): number {
  const unit = spanMs < WHOLE_DAYS_FROM_MS ? MINUTE_MS : DAY_MS;
  return (Math.floor(spanMs / unit) + 1) * unit;
}

/** Turns the lines of a recording into events, lap by lap, and adds ticks (clock events). */
export class EventScript {
  readonly #parser: LineParser;
  readonly #timeline: Timeline;
  readonly #skips: SkipCounter;
  #lap = 0;
  #lapMs = 0;
  #shiftMs = 0;
  #part = { path: "", linesBefore: 0 };
  #line = 0;
  #begun = false;
  #count = 0;
  readonly #jump = new Jump();

  constructor(parser: LineParser, timeline: Timeline, skips: SkipCounter) {
    this.#parser = parser;
    this.#timeline = timeline;
    this.#skips = skips;
  }

  /** The file that is being read, and the number of its lines so far. */
  get position(): { readonly path: string; readonly line: number } {
    const { path, linesBefore } = this.#part;
    return { path, line: this.#line - linesBefore };
  }

  /** Number of events in all laps so far, not counting clocks. */
  get count(): number {
    return this.#count;
  }

  /** Yields the events of these lines. Throws `InputError` if a part's first line is invalid. */
  *read(lines: readonly Line[]): Generator<MarketEvent> {
    const events: MarketEvent[] = [];
    for (const line of lines) {
      this.#line += 1;
      if (typeof line !== "string") {
        this.#skip("too-long", `${line.chars} characters (maximum ${MAX_LINE_CHARS})`);
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
      // A line that is in time or late proves that the lines ahead have a wrong time.
      if (!skipped || skipped.reason === "late") this.#skipAhead(this.#jump.take());
      if (skipped) this.#skip(skipped.reason, skipped.detail);
      else yield* this.#place(events);
    }
  }

  /**
   * Ends a lap: yields the events of lines that are still ahead if a gap is likely, else skips
   * them.
   */
  *endLap(): Generator<MarketEvent> {
    if (this.#jump.isLikely) yield* this.#leap();
    else this.#skipAhead(this.#jump.take());
  }

  /** Ends a gap in the recording: yields the events of the lines after it. */
  *#leap(): Generator<MarketEvent> {
    const events: MarketEvent[] = [];
    this.#timeline.allowLeap();
    for (const { line, number } of this.#jump.take()) {
      const skipped = this.#parser.parse(line, this.#shiftMs, events);
      if (skipped) this.#skip(skipped.reason, skipped.detail, number);
      else yield* this.#place(events);
    }
  }

  /** Yields the events with the ticks before them, and empties the list. */
  *#place(events: MarketEvent[]): Generator<MarketEvent> {
    for (const event of events) {
      this.#count += event.kind === "clock" ? 0 : 1;
      yield* this.#timeline.place(event);
    }
    events.length = 0;
  }

  #skipAhead(lines: readonly LineAhead[]): void {
    for (const { detail, number } of lines) this.#skip("ahead", detail, number);
  }

  /** Prepares for the lines of another file of the recording, which may start with a header. */
  beginPart(path: string): void {
    this.#part = { path, linesBefore: this.#line };
    this.#begun = false;
  }

  /** Records that the rest of the part after this line is lost. */
  noteTorn(detail: string): void {
    this.#skip("torn", detail);
  }

  /**
   * Starts the next lap, or the one that contains `fromMs` if that is later. Returns `false` if it
   * would end after the year 9999.
   */
  nextLap(fromMs = 0): boolean {
    const first = this.#timeline.first ?? 0;
    if (this.#lap === 0) this.#lapMs = lapLengthMs(this.#timeline.latest - first);
    const lap = Math.max(this.#lap + 1, Math.floor((fromMs - first) / this.#lapMs));
    const skippedMs = (lap - this.#lap - 1) * this.#lapMs;
    if (skippedMs > 0) {
      this.#timeline.advance(skippedMs);
      this.#parser.advance(skippedMs);
    }
    this.#lap = lap;
    this.#shiftMs = lap * this.#lapMs;
    this.#line = 0;
    this.#begun = false;
    return this.#timeline.latest + this.#lapMs <= LATEST_AT_MS;
  }

  /** Ends a lap that an error interrupted, then yields the tick that closes the last second. */
  *close(): Generator<MarketEvent> {
    yield* this.endLap();
    yield* this.#timeline.close();
  }

  /** At the end of the first lap, reports unused profiles and the totals of skipped lines. */
  reportLap(): void {
    if (this.#lap > 0) return;
    for (const name of this.#parser.unusedProfiles()) {
      this.#skips.add(
        { reason: "profile-unused", detail: `no line contains the token ${JSON.stringify(name)}` },
        0,
      );
    }
    this.#skips.summarize();
  }

  #isHeader(line: string): boolean {
    this.#begun = true;
    const kind = this.#parser.firstLine(line);
    if (typeof kind === "object") {
      const { path, line: number } = this.position;
      throw new InputError(path, kind.problem, { line: number });
    }
    return kind === "header";
  }

  /** Counts skipped lines of the first lap only, because each lap skips the same ones. */
  #skip(reason: SkipReason, detail: string, line = this.#line): void {
    if (this.#lap === 0) this.#skips.add({ reason, detail }, line);
  }
}
