import type { Clock } from "../../lib/time/clock.ts";
import { decodeTail } from "../../log/index.ts";
import {
  applyEvent,
  type EventBody,
  type Lists,
  type Snapshot,
  type SourceInfo,
} from "../../protocol/index.ts";
import { type Leader, LeaderHealth, type PlacedEvent, type ReplicaSink } from "../../source/index.ts";
import type { FeedMessage, SourceNews } from "../messages.ts";
import type { PrimaryLink } from "./primary-link.ts";

/** What a worker follows its primary with. */
export interface PrimaryLeaderOptions {
  readonly link: PrimaryLink;
  readonly clock: Clock;
  readonly staleAfterMs: number;
  readonly news: SourceNews;
  /** Lists of bytes. */
  readonly read: (bytes: Uint8Array) => Lists;
  /** Told when another history has begun here. */
  readonly onBegun: () => void;
  /** What came does not follow from what is here: this process is of no use any more. */
  readonly onMisfit: (error: unknown) => void;
}

/** How often the primary tells how its source fares, in milliseconds. */
const NEWS_MS = 1_000;

/** The primary process as a worker follows it: the same log, over the line between the two, and the primary's word on the source. */
export class PrimaryFollower implements Leader {
  readonly #options: PrimaryLeaderOptions;
  readonly #health: LeaderHealth;
  #info: SourceInfo;

  constructor(options: PrimaryLeaderOptions) {
    const { clock, staleAfterMs, news } = options;
    this.#options = options;
    this.#health = new LeaderHealth(staleAfterMs, clock.monotonic());
    this.#info = news.info;
    this.tell(news);
  }

  get info(): SourceInfo {
    return this.#info;
  }

  /** The line stands for as long as the process does. */
  get isLinked(): boolean {
    return true;
  }

  /** What the primary says of its source. */
  tell({ info, freshness }: SourceNews): void {
    const nowMs = this.#options.clock.monotonic();
    this.#info = info;
    this.#health.heard(nowMs);
    this.#health.told(freshness, nowMs, NEWS_MS);
  }

  /** See Leader. */
  freshness() {
    const { clock } = this.#options;
    return this.#health.judge(clock.monotonic(), clock.now());
  }

  /** What an event says of the source, which the primary's word of the second before does not. */
  #note({ name, data, observed_at }: EventBody): void {
    const nowMs = this.#options.clock.monotonic();
    this.#health.heard(nowMs);
    if (name === "source-status") this.#health.changed(data.state, data.reason, nowMs);
    else this.#health.news(observed_at, nowMs);
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
}: FeedMessage & { readonly type: "batch" }): readonly PlacedEvent[] {
  const batch = first + ends.length - 1;
  return ends.map((end, at) => {
    const tail = tails.subarray(ends[at - 1] ?? 0, end);
    return { seq: first + at, batch, emittedAtMs: emittedAtMs[at] ?? 0, body: decodeTail(tail), tail, run };
  });
}
