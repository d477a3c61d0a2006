import type { Clock } from "../../lib/time/clock.ts";
import { decodeTail } from "../../log/index.ts";
import {
  applyEvent,
  type EventBody,
  type Lists,
  type Snapshot,
  type SourceInfo,
} from "../../protocol/index.ts";
import { type Leader, LeaderHealth, type ReplicaSink, type ReplicatedEvent } from "../../source/index.ts";
import type { FeedMessage, SourceReport } from "../messages.ts";
import type { PrimaryLink } from "./primary-link.ts";

export interface PrimaryFollowerOptions {
  readonly link: PrimaryLink;
  readonly clock: Clock;
  readonly staleAfterMs: number;
  readonly news: SourceReport;
  /** Decodes lists. */
  readonly read: (bytes: Uint8Array) => Lists;
  /** Called after a new epoch has started here. */
  readonly onBegun: () => void;
  /** Called when a message does not continue the local log. This process cannot go on. */
  readonly onMisfit: (error: unknown) => void;
}

/** Interval of the primary's reports on its source, in milliseconds. */
const NEWS_MS = 1_000;

/** Follows the primary's log and the state of its source, from a worker. */
export class PrimaryFollower implements Leader {
  readonly #options: PrimaryFollowerOptions;
  readonly #health: LeaderHealth;
  #info: SourceInfo;

  constructor(options: PrimaryFollowerOptions) {
    const { clock, staleAfterMs, news } = options;
    this.#options = options;
    this.#health = new LeaderHealth(staleAfterMs, clock.monotonic());
    this.#info = news.info;
    this.tell(news);
  }

  get info(): SourceInfo {
    return this.#info;
  }

  /** The channel lives as long as this process. */
  get isConnected(): boolean {
    return true;
  }

  /** Applies the primary's report on its source. */
  tell({ info, freshness }: SourceReport): void {
    const nowMs = this.#options.clock.monotonic();
    this.#info = info;
    this.#health.noteMessage(nowMs);
    this.#health.noteReport(freshness, nowMs, NEWS_MS);
  }

  /** See Leader. */
  freshness() {
    const { clock } = this.#options;
    return this.#health.judge(clock.monotonic(), clock.now());
  }

  /** Applies an event about the source, which is newer than the last report. */
  #note({ name, data, observed_at }: EventBody): void {
    const nowMs = this.#options.clock.monotonic();
    this.#health.noteMessage(nowMs);
    if (name === "source-status") this.#health.noteStatus(data.state, data.reason, nowMs);
    else this.#health.noteBatch(observed_at, nowMs);
  }

  /** See Leader. */
  run(mirror: ReplicaSink, signal: AbortSignal): Promise<void> {
    const { link, onBegun, onMisfit } = this.#options;
    let snapshot = mirror.position?.snapshot;
    const take = (message: FeedMessage): Promise<void> => {
      if (message.type === "begin") {
        const { cursor, positions, observedAtMs } = message;
        const lists = this.#options.read(message.lists);
        snapshot = lists.snapshot;
        return mirror.begin(cursor, { observedAtMs, positions: { ...positions }, lists }).then(onBegun);
      }
      const { observedAtMs } = message;
      const events = eventsOf(message);
      if (!snapshot) throw new Error("events came before the first snapshot");
      for (const { body } of events) this.#note(body);
      snapshot = events.reduce((state, { body }) => applyEvent(state, body) as Snapshot, snapshot);
      return mirror.publish({ events, snapshot, observedAtMs });
    };
    link.onFeed((message) => {
      if (signal.aborted) return;
      try {
        take(message).catch(onMisfit);
      } catch (error) {
        onMisfit(error);
      }
    });
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}

function eventsOf({
  first,
  emittedAtMs,
  run,
  tails,
  ends,
}: FeedMessage & { readonly type: "batch" }): readonly ReplicatedEvent[] {
  const batch = first + ends.length - 1;
  return ends.map((end, at) => {
    const tail = tails.subarray(ends[at - 1] ?? 0, end);
    return { seq: first + at, batch, emittedAtMs: emittedAtMs[at] ?? 0, body: decodeTail(tail), tail, run };
  });
}
