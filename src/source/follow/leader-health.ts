import { isoTime } from "../../lib/time/iso-time.ts";
import type { Freshness } from "../../protocol/index.ts";

/** What the leader says of its source, and how it is. */
interface Told {
  readonly freshness: Freshness;
  readonly atMs: number;
}

/**
 * How fresh the data of a follower is: as fresh as the leader says, and older by the time since it said so. Times are of one monotonic clock, and
 * what is told in wall-clock time is told by this machine's: the leader's may differ.
 */
export class LeaderHealth {
  readonly #staleAfterMs: number;
  readonly #startedAtMs: number;
  #told: Told | undefined;
  #heartbeatMs = 15_000;
  /** When the leader's source was last heard of. */
  #successAtMs: number | undefined;
  #heardAtMs: number;
  /** Since when there is no connection, and why; `undefined`: there is one. */
  #cut: { readonly atMs: number; readonly reason: string } | undefined;
  #observedAt: string | null = null;
  /** When the leader spoke of its parts. */
  #partsAtMs: number | undefined;

  constructor(staleAfterMs: number, nowMs: number) {
    this.#staleAfterMs = staleAfterMs;
    this.#startedAtMs = nowMs;
    this.#heardAtMs = nowMs;
  }

  /** Anything came from the leader. */
  heard(nowMs: number): void {
    this.#heardAtMs = nowMs;
  }

  /** The leader told how its data is. `heartbeatMs`: how often it does, where it said so. */
  told(freshness: Freshness, nowMs: number, heartbeatMs?: number): void {
    this.#told = { freshness, atMs: nowMs };
    this.#partsAtMs = nowMs;
    this.#heartbeatMs = heartbeatMs ?? this.#heartbeatMs;
    this.#observedAt = freshness.observed_at;
    if (freshness.last_success_at !== null)
      this.#successAtMs = Math.max(this.#successAtMs ?? -Infinity, nowMs - freshness.data_age_ms);
  }

  /** A batch of the market's came that is no backlog: the leader has just heard of its source. */
  news(observedAt: string, nowMs: number): void {
    this.#successAtMs = nowMs;
    this.#observedAt = observedAt;
    if (this.#told) this.#told = { freshness: { ...this.#told.freshness, data_age_ms: 0 }, atMs: nowMs };
  }

  /** The leader's source changed its state. */
  changed(state: Freshness["state"], reason: string, nowMs: number): void {
    if (this.#told) this.#told = { freshness: { ...this.#told.freshness, state, reason }, atMs: nowMs };
  }

  /** The connection stands. */
  linked(): void {
    this.#cut = undefined;
  }

  /** There is no connection, and why. */
  cut(reason: string, nowMs: number): void {
    this.#cut = { atMs: this.#cut?.atMs ?? nowMs, reason };
  }

  /** The state now; `wallMs` is the same moment by the wall clock. */
  judge(nowMs: number, wallMs: number): Freshness {
    const ageMs = nowMs - (this.#successAtMs ?? this.#startedAtMs);
    return {
      ...this.#state(nowMs),
      observed_at: this.#observedAt,
      last_success_at: this.#successAtMs === undefined ? null : isoTime(Math.floor(wallMs - ageMs)),
      data_age_ms: Math.max(0, Math.round(ageMs)),
      ...this.#parts(nowMs),
    };
  }

  /** What the leader said of its parts, each older by the time since. */
  #parts(nowMs: number): Pick<Freshness, "parts"> {
    const parts = this.#told?.freshness.parts;
    if (!parts) return {};
    const sinceMs = Math.max(0, Math.round(nowMs - (this.#partsAtMs ?? nowMs)));
    return { parts: parts.map((part) => ({ ...part, data_age_ms: part.data_age_ms + sinceMs })) };
  }

  #state(nowMs: number): Pick<Freshness, "state" | "reason"> {
    const told = this.#told;
    const limitMs = this.#staleAfterMs;
    if (this.#cut && (!told || nowMs - this.#cut.atMs > limitMs))
      return { state: "down", reason: this.#cut.reason };
    if (!told) return { state: "stale", reason: "the leader has not answered yet" };
    const { state, reason, data_age_ms } = told.freshness;
    if (state !== "live") return { state, reason };
    if (nowMs - this.#heardAtMs > limitMs + this.#heartbeatMs)
      return { state: "stale", reason: `nothing was heard of the leader for more than ${limitMs} ms` };
    if (data_age_ms > limitMs)
      return { state: "stale", reason: `the leader's data is older than ${limitMs} ms` };
    return { state, reason };
  }
}
