import type { Clock } from "../../base/lib/time/clock.ts";
import { whenAborted } from "../../base/lib/time/until-aborted.ts";
import { advanceSnapshot, type EventBody, type Lists, type SourceInfo } from "../../base/protocol/index.ts";
import { decodeTail } from "../../gateway/log/index.ts";
import { type Leader, LeaderHealth, type ReplicaSink } from "../../gateway/source/index.ts";
import type { LogUpdate, SourceReport } from "../messages.ts";
import type { PrimaryLink } from "./primary-link.ts";

interface PrimaryFollowerOptions {
  readonly link: Pick<PrimaryLink, "onUpdate">;
  readonly clock: Clock;
  readonly staleAfterMs: number;
  readonly report: SourceReport;
  readonly decode: (bytes: Uint8Array) => Lists;
  /** Called after a new epoch or the first snapshot has been applied here. */
  readonly onBegun: () => void;
}

/** Interval of the primary's reports on its source, in milliseconds. */
const REPORT_MS = 1_000;

/**
 * Follows the primary's log and the state of its source, from a worker. A node of a cluster also
 * uses this class, to follow the leader's log and source.
 */
export class PrimaryFollower implements Leader {
  readonly #options: PrimaryFollowerOptions;
  readonly #health: LeaderHealth;
  #info: SourceInfo;

  constructor(options: PrimaryFollowerOptions) {
    const { clock, staleAfterMs, report } = options;
    this.#options = options;
    this.#health = new LeaderHealth(staleAfterMs, clock.monotonic());
    this.#info = report.info;
    this.update(report);
  }

  get info(): SourceInfo {
    return this.#info;
  }

  /** A worker's channel lives as long as its process. Nodes check their connection elsewhere. */
  get isConnected(): boolean {
    return true;
  }

  /** Applies the primary's report on its source. */
  update({ info, freshness }: SourceReport): void {
    const nowMs = this.#options.clock.monotonic();
    this.#info = info;
    this.#health.noteMessage(nowMs);
    this.#health.noteReport(freshness, nowMs, REPORT_MS);
  }

  freshness() {
    const { clock } = this.#options;
    return this.#health.judge(clock.monotonic(), clock.now());
  }

  /** Applies what an event says about the source. It is newer than the last report. */
  #note({ name, data, observed_at }: EventBody): void {
    const nowMs = this.#options.clock.monotonic();
    this.#health.noteMessage(nowMs);
    if (name === "source-status") this.#health.noteStatus(data.state, data.reason, nowMs);
    else this.#health.noteBatch(observed_at, nowMs);
  }

  /**
   * Applies the primary's updates until the signal aborts. One that does not continue the local log
   * is an error that ends this process.
   */
  run(sink: ReplicaSink, signal: AbortSignal): Promise<void> {
    const { link, onBegun } = this.#options;
    let snapshot = sink.position?.snapshot;
    const take = (message: LogUpdate): Promise<void> => {
      if (message.type === "begin") {
        const { cursor, positions, observedAtMs } = message;
        const lists = this.#options.decode(message.lists);
        snapshot = lists.snapshot;
        return sink.begin(cursor, { observedAtMs, positions: { ...positions }, lists }).then(onBegun);
      }
      const { records, observedAtMs } = message;
      const events = records.map((record) => ({ ...record, body: decodeTail(record.tail) }));
      if (!snapshot) throw new Error("events came before the first snapshot");
      for (const { body } of events) this.#note(body);
      snapshot = events.reduce((state, { body }) => advanceSnapshot(state, body), snapshot);
      return sink.publish({ events, snapshot, observedAtMs });
    };
    link.onUpdate((message) => {
      if (!signal.aborted) void take(message);
    });
    return whenAborted(signal);
  }
}
