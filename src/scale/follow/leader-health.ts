import { isoTime } from "../../base/lib/time/iso-time.ts";
import type { Freshness } from "../../base/protocol/index.ts";

/** Freshness of a mirror: the leader's, plus the time since its report by a monotonic clock. */
export class LeaderHealth {
  readonly #staleAfterMs: number;
  readonly #startedAtMs: number;
  /** The leader's report on its source. */
  #report: Freshness | undefined;
  #heartbeatMs = 15_000;
  /** When the leader's source last responded. */
  #successAtMs: number | undefined;
  #messageAtMs: number;
  /** When the connection was lost, and why; `undefined` while connected. */
  #disconnected: { readonly atMs: number; readonly reason: string } | undefined;
  #observedAt: string | null = null;
  /** When the leader last reported its parts. */
  #partsAtMs: number | undefined;

  constructor(staleAfterMs: number, nowMs: number) {
    this.#staleAfterMs = staleAfterMs;
    this.#startedAtMs = nowMs;
    this.#messageAtMs = nowMs;
  }

  noteMessage(nowMs: number): void {
    this.#messageAtMs = nowMs;
  }

  /** Records the leader's report. `heartbeatMs`: interval of its heartbeats, if it stated one. */
  noteReport(freshness: Freshness, nowMs: number, heartbeatMs?: number): void {
    this.#report = freshness;
    this.#partsAtMs = nowMs;
    this.#heartbeatMs = heartbeatMs ?? this.#heartbeatMs;
    this.#observedAt = freshness.observed_at;
    if (freshness.last_success_at === null) return;
    const successAtMs = nowMs - freshness.data_age_ms;
    const isNewer = this.#successAtMs === undefined || successAtMs > this.#successAtMs;
    // A batch may be newer than the report of a live source.
    if (isNewer || freshness.state !== "live") this.#successAtMs = successAtMs;
  }

  /**
   * Records a batch of market events. If the leader's source is live, it has just responded. If it
   * is not, the events may be old, because it catches up: then only a report has their age.
   */
  noteBatch(observedAt: string, nowMs: number): void {
    this.#observedAt = observedAt;
    if (this.#report && this.#report.state !== "live") return;
    this.#successAtMs = nowMs;
    if (this.#report) this.#report = { ...this.#report, data_age_ms: 0 };
  }

  /** Records a change of state of the leader's source. One that becomes live has new data. */
  noteStatus(state: Freshness["state"], reason: string, nowMs: number): void {
    if (!this.#report) return;
    const isNews = state === "live" && this.#report.state !== "live";
    if (isNews) this.#successAtMs = nowMs;
    this.#report = { ...this.#report, state, reason, ...(isNews && { data_age_ms: 0 }) };
  }

  noteConnected(): void {
    this.#disconnected = undefined;
  }

  noteDisconnected(reason: string, nowMs: number): void {
    this.#disconnected = { atMs: this.#disconnected?.atMs ?? nowMs, reason };
  }

  /** Returns the freshness now; `wallMs` is the same moment by the wall clock. */
  judge(nowMs: number, wallMs: number): Freshness {
    // Not before 1970: a leader may state any age, and not every one has a time.
    const ageMs = Math.min(wallMs, nowMs - (this.#successAtMs ?? this.#startedAtMs));
    return {
      ...this.#state(nowMs),
      observed_at: this.#observedAt,
      last_success_at: this.#successAtMs === undefined ? null : isoTime(Math.floor(wallMs - ageMs)),
      data_age_ms: Math.max(0, Math.round(ageMs)),
      ...this.#parts(nowMs),
    };
  }

  /** Returns the leader's parts, each older by the time since its report. */
  #parts(nowMs: number): Pick<Freshness, "parts"> {
    const parts = this.#report?.parts;
    if (!parts) return {};
    const sinceMs = Math.max(0, Math.round(nowMs - (this.#partsAtMs ?? nowMs)));
    return { parts: parts.map((part) => ({ ...part, data_age_ms: part.data_age_ms + sinceMs })) };
  }

  #state(nowMs: number): Pick<Freshness, "state" | "reason"> {
    const report = this.#report;
    const limitMs = this.#staleAfterMs;
    if (this.#disconnected && (!report || nowMs - this.#disconnected.atMs > limitMs))
      return { state: "down", reason: this.#disconnected.reason };
    if (!report) return { state: "stale", reason: "the leader has not responded yet" };
    const { state, reason, data_age_ms } = report;
    if (state !== "live") return { state, reason };
    if (nowMs - this.#messageAtMs > limitMs + this.#heartbeatMs)
      return { state: "stale", reason: `no message from the leader for more than ${limitMs} ms` };
    if (data_age_ms > limitMs)
      return { state: "stale", reason: `the leader's data is older than ${limitMs} ms` };
    return { state, reason };
  }
}
