/** Why a line of a recording was skipped. `RECORDING.md` has the same list. */
export const SKIP_REASONS = {
  "too-long": "the line has more than 65,536 characters",
  "bad-columns": "the line does not have exactly seven columns",
  "bad-time": "time_ms is not a whole minute in milliseconds since 1970, up to the year 9999",
  "bad-pair": "the pair's name is empty, longer than 128 characters, or contains a control character",
  "bad-number": "a price or the volume is not a decimal number of at most 100 characters",
  negative: "a price or the volume is negative",
  impossible: "a price is zero, or high and low do not enclose open and close",
  duplicate: "the pair already has a candle for this minute",
  "bad-json": "the line is not JSON",
  "bad-event": "the line is JSON, but not a market event",
  late: "the event is more than 5 s before the latest one",
  ahead:
    "the event is more than 31 days after the latest one, and the following lines do not continue from it",
  "too-many-pairs": "the pair is beyond the first 100,000 of the recording",
  torn: "the last part ends in the middle of a gzip member, because the recording process was killed or is still writing",
  "profile-unused": "the recording does not contain a token of the profiles file",
} as const;
export type SkipReason = keyof typeof SKIP_REASONS;

export interface Skipped {
  readonly reason: SkipReason;
  readonly detail: string;
  /** Event time of a line that is `ahead`. */
  readonly at?: number;
}

/**
 * Receives skipped lines and totals. `line` counts from 1 over all files of the recording; 0 means
 * no particular line. A total comes with the last such line.
 */
export type OnSkipped = (reason: SkipReason, line: number, detail: string) => void;

/** Lines per reason that are reported individually. If there are more, a total follows. */
export const DETAILED_PER_REASON = 5;

/** Quotes an untrusted value in a message: escaped, at most 60 characters. */
export function excerpt(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}

/** Counts skipped lines and reports a bounded number of them. */
export class SkipCounter {
  readonly #counts = new Map<SkipReason, { count: number; lastLine: number }>();
  readonly #report: OnSkipped | undefined;

  constructor(report: OnSkipped | undefined) {
    this.#report = report;
  }

  add(skipped: Skipped, line: number): void {
    const entry = this.#counts.get(skipped.reason) ?? { count: 0, lastLine: 0 };
    entry.count += 1;
    entry.lastLine = line;
    this.#counts.set(skipped.reason, entry);
    if (entry.count <= DETAILED_PER_REASON) this.#report?.(skipped.reason, line, skipped.detail);
  }

  /** Reports the totals of the reasons with more lines than were reported individually. */
  summarize(): void {
    for (const [reason, { count, lastLine }] of this.#counts) {
      if (count > DETAILED_PER_REASON)
        this.#report?.(reason, lastLine, `${count} in total: ${SKIP_REASONS[reason]}`);
    }
  }

  totals(): Partial<Record<SkipReason, number>> {
    return Object.fromEntries([...this.#counts].map(([reason, { count }]) => [reason, count]));
  }
}
