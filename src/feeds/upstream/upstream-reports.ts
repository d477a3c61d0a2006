import { BoundedMap } from "../../base/lib/bounded-map.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { SpecChannel } from "../../base/protocol/index.ts";

/** Something invalid from an upstream. Untrusted strings of at most 200 characters. */
export interface UpstreamReport {
  /** The list's channel, or the part of `/snapshot`. */
  readonly list: SpecChannel | "explanations" | "outcomes" | "observed_at";
  /** The item's key; `null` if it is unreadable, or for the list itself. */
  readonly key: string | null;
  /** The field, such as `token.price`; empty for the item or the list itself. */
  readonly path: string;
  readonly reason: string;
  /** `kept`: the last valid version is used. `dropped`: it is omitted. */
  readonly action: "kept" | "dropped";
}

export interface UpstreamCounts {
  /** Invalid items, counted in each response. */
  readonly invalidItems: number;
  /** Items whose key occurred earlier in the same list. */
  readonly duplicates: number;
  /** Lists that were not arrays, and other malformed parts. */
  readonly invalidLists: number;
  /** Lists that were truncated. */
  readonly overlong: number;
}

/** Reports per response (others are only counted), remembered reports, characters of a text. */
const MAX = { perAnswer: 20, remembered: 1_000, characters: 200 };
const REPEAT_AFTER_MS = 600_000;

/**
 * Counts invalid content. Passes each report on at most once in ten minutes, and at most 20 per
 * response.
 */
export class UpstreamReports {
  readonly #clock: Clock;
  readonly #onInvalid: (report: UpstreamReport) => void;
  readonly #counts = { invalidItems: 0, duplicates: 0, invalidLists: 0, overlong: 0 };
  readonly #passedOnAtMs = new BoundedMap<string, number>(MAX.remembered);
  #left = MAX.perAnswer;

  constructor(clock: Clock, onInvalid: (report: UpstreamReport) => void) {
    this.#clock = clock;
    this.#onInvalid = onInvalid;
  }

  get counts(): UpstreamCounts {
    return { ...this.#counts };
  }

  /** Resets the limit for the next response. */
  startAnswer(): void {
    this.#left = MAX.perAnswer;
  }

  /** Counts `report` as `what`. Passes it on within the limits. Without a key: a whole list. */
  add(
    what: keyof UpstreamCounts,
    report: Pick<UpstreamReport, "list" | "reason" | "action"> & Partial<UpstreamReport>,
  ): void {
    this.#counts[what] += 1;
    if (this.#left === 0) return;
    const short = {
      ...report,
      key: report.key?.slice(0, MAX.characters) ?? null,
      path: report.path?.slice(0, MAX.characters) ?? "",
      reason: report.reason.slice(0, MAX.characters),
    };
    const signature = JSON.stringify(short);
    const nowMs = this.#clock.monotonic();
    const lastMs = this.#passedOnAtMs.get(signature);
    if (lastMs !== undefined && nowMs - lastMs < REPEAT_AFTER_MS) return;
    this.#passedOnAtMs.set(signature, nowMs);
    this.#left -= 1;
    this.#onInvalid(short);
  }
}
