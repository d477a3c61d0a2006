/** Why a line of a recording was left out; the rest of the file goes on. `RECORDING.md` lists the same. */
export const SKIP_REASONS = {
  "too-long": "the line has more characters than a line may have",
  "bad-columns": "the line has not exactly the seven columns",
  "bad-time": "time_ms is not a whole minute in milliseconds since 1970",
  "bad-pair": "the pair's name is empty, longer than 128 characters, or holds a control character",
  "bad-number": "a price or the volume is not a decimal number of at most 100 characters",
  negative: "a price or the volume is below zero",
  impossible: "a price is zero, or high and low do not enclose open and close",
  duplicate: "the pair already has a candle of this minute",
  "bad-json": "the line is not JSON",
  "bad-event": "the line is JSON, but no market event",
  late: "the event lies more than 5 s before the latest one",
  ahead:
    "the event lies more than 31 days after the latest one, and the lines behind it do not go on from there",
  "too-many-pairs": "the recording has more than 100,000 pairs; this one is beyond them",
  torn: "the last part of a recording whose process was killed ends in the middle of a member",
  "profile-unused": "the profiles name a token that the recording does not have",
} as const;
export type SkipReason = keyof typeof SKIP_REASONS;

/** A line that is left out, with what is wrong with it: value and bound. */
export interface Skipped {
  readonly reason: SkipReason;
  readonly detail: string;
  /** Event time of one that is `ahead`. */
  readonly at?: number;
}

/** Told of lines left out. `line` counts from 1, and is 0 where no line is meant. */
export type OnSkipped = (reason: SkipReason, line: number, detail: string) => void;

/** How many lines of one reason are reported one by one; a summary follows at the end for a reason that had more. */
export const DETAILED_PER_REASON = 5;

/** Shows a stranger's value in a message: quoted, escaped, at most 60 characters of it. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}

/** Counts what is left out, and reports it in bounded number however bad the file is. */
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

  /** Reports the totals of the reasons that had more than were reported one by one. */
  summarise(): void {
    for (const [reason, { count, lastLine }] of this.#counts) {
      if (count > DETAILED_PER_REASON)
        this.#report?.(reason, lastLine, `${count} in all: ${SKIP_REASONS[reason]}`);
    }
  }

  /** Times that each reason came up; reasons that did not are absent. */
  totals(): Partial<Record<SkipReason, number>> {
    return Object.fromEntries([...this.#counts].map(([reason, { count }]) => [reason, count]));
  }
}
