import type { Clock } from "../../lib/time/clock.ts";
import type { ListChannel } from "../../protocol/index.ts";

/** Something that an upstream sent and that could not be taken as it was. Strings in it come from strangers; each is at most 200 characters. */
export interface UpstreamReport {
  /** Where it stood: the list's channel, or the part of `/snapshot`. */
  readonly list: ListChannel | "explanations" | "observed_at";
  /** The item's key; `null` where it has none that can be read, or where the whole list is meant. */
  readonly key: string | null;
  /** The field, as `token.price`; empty for the item or the list itself. */
  readonly path: string;
  /** What is wrong with it. */
  readonly reason: string;
  /** What was done: the last valid version stays (`kept`), or it is left out (`dropped`). */
  readonly action: "kept" | "dropped";
}

/** What was found and done since the start; each only grows. */
export interface UpstreamCounts {
  /** Items that failed validation, counted anew in each answer that brings them. */
  readonly invalidItems: number;
  /** Items whose key an earlier one of the same list had. */
  readonly duplicates: number;
  /** Lists that were no arrays, and other parts of an unexpected form. */
  readonly invalidLists: number;
  /** Lists that were cut because they were too long. */
  readonly overlong: number;
}

/** Reports passed on from one answer; the others are only counted. */
const MAX_PER_ANSWER = 20;
/** The same report is passed on again after this time. */
const REPEAT_AFTER_MS = 600_000;
/** Reports remembered as passed on; beyond that the oldest is forgotten. */
const MAX_REMEMBERED = 1_000;
const MAX_CHARACTERS = 200;

/** Counts what was wrong, and passes on as much of it as a log can bear: each trouble once in ten minutes, 20 an answer. */
export class UpstreamReports {
  readonly #clock: Clock;
  readonly #onInvalid: (report: UpstreamReport) => void;
  readonly #counts = { invalidItems: 0, duplicates: 0, invalidLists: 0, overlong: 0 };
  readonly #passedOnAtMs = new Map<string, number>();
  #left = MAX_PER_ANSWER;

  constructor(clock: Clock, onInvalid: (report: UpstreamReport) => void) {
    this.#clock = clock;
    this.#onInvalid = onInvalid;
  }

  /** A copy of the counts. */
  get counts(): UpstreamCounts {
    return { ...this.#counts };
  }

  /** Opens the allowance of the next answer. */
  startAnswer(): void {
    this.#left = MAX_PER_ANSWER;
  }

  /** Counts `report` as `what`, and passes it on unless it was lately or the answer has brought too many. */
  add(what: keyof UpstreamCounts, report: UpstreamReport): void {
    this.#counts[what] += 1;
    if (this.#left === 0) return;
    const short = {
      ...report,
      key: report.key?.slice(0, MAX_CHARACTERS) ?? null,
      path: report.path.slice(0, MAX_CHARACTERS),
      reason: report.reason.slice(0, MAX_CHARACTERS),
    };
    const signature = JSON.stringify(short);
    const nowMs = this.#clock.monotonic();
    const lastMs = this.#passedOnAtMs.get(signature);
    if (lastMs !== undefined && nowMs - lastMs < REPEAT_AFTER_MS) return;
    this.#remember(signature, nowMs);
    this.#left -= 1;
    this.#onInvalid(short);
  }

  #remember(signature: string, nowMs: number): void {
    this.#passedOnAtMs.delete(signature);
    this.#passedOnAtMs.set(signature, nowMs);
    const [oldest] = this.#passedOnAtMs.keys();
    if (this.#passedOnAtMs.size > MAX_REMEMBERED && oldest !== undefined) this.#passedOnAtMs.delete(oldest);
  }
}
