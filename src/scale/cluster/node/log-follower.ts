import type { Clock } from "../../../base/lib/time/clock.ts";
import { whenAborted } from "../../../base/lib/time/until-aborted.ts";
import {
  advanceSnapshot,
  type EventBody,
  type Freshness,
  type SourceInfo,
} from "../../../base/protocol/index.ts";
import { decodeBody } from "../../../gateway/log/index.ts";
import { decodeLists } from "../../../gateway/persistence/index.ts";
import { LeaderHealth, type ReplicaSink } from "../../follow/index.ts";
import type { LogUpdate, SourceReport } from "./entry-body.ts";

/** Interval of a leader's reports on its source, in milliseconds. */
const REPORT_MS = 1_000;

/** Follows the log of a cluster's leader and the state of its source. */
export class LogFollower {
  readonly #clock: Clock;
  readonly #health: LeaderHealth;
  #info: SourceInfo;
  #take: (update: LogUpdate) => void = () => {};

  /** `report`: the state of the source until the leader's first report. */
  constructor(clock: Clock, staleAfterMs: number, report: SourceReport) {
    this.#clock = clock;
    this.#health = new LeaderHealth(staleAfterMs, clock.monotonic());
    this.#info = report.info;
    this.report(report);
  }

  get info(): SourceInfo {
    return this.#info;
  }

  /** Applies the leader's report on its source. */
  report({ info, freshness }: SourceReport): void {
    const nowMs = this.#clock.monotonic();
    this.#info = info;
    this.#health.noteMessage(nowMs);
    this.#health.noteReport(freshness, nowMs, REPORT_MS);
  }

  freshness(): Freshness {
    return this.#health.judge(this.#clock.monotonic(), this.#clock.now());
  }

  /** Applies a change of the leader's log while {@link run} runs. Throws if it cannot be read. */
  apply(update: LogUpdate): void {
    this.#take(update);
  }

  /** Writes what {@link apply} receives into the sink until the signal aborts. */
  run(sink: ReplicaSink, signal: AbortSignal): Promise<void> {
    let snapshot = sink.position?.snapshot;
    this.#take = (update) => {
      if (signal.aborted) return;
      if (update.type === "begin") {
        const { cursor, positions, observedAtMs } = update;
        const lists = decodeLists({ bytes: update.lists });
        snapshot = lists.snapshot;
        void sink.begin(cursor, { observedAtMs, positions: { ...positions }, lists });
        return;
      }
      const { records, observedAtMs } = update;
      const events = records.map((record) => ({ ...record, body: decodeBody(record.encoded) }));
      if (!snapshot) throw new Error("events came before the first snapshot");
      for (const { body } of events) this.#note(body);
      snapshot = events.reduce((state, { body }) => advanceSnapshot(state, body), snapshot);
      void sink.publish({ events, snapshot, observedAtMs });
    };
    return whenAborted(signal);
  }

  /** Applies what an event says about the source. It is newer than the last report. */
  #note({ name, data, observed_at }: EventBody): void {
    const nowMs = this.#clock.monotonic();
    this.#health.noteMessage(nowMs);
    if (name === "source-status") this.#health.noteStatus(data.state, data.reason, nowMs);
    else this.#health.noteBatch(observed_at, nowMs);
  }
}
