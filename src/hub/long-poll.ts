import type { WallClock } from "../lib/clock.ts";
import type { EventLog } from "../log/event-log.ts";
import type { Cursor, EventName } from "../protocol/index.ts";
import { readCursor } from "./connect-query.ts";
import { type EventPage, jsonFraming, readPage } from "./event-page.ts";
import type { Head } from "./head.ts";
import { createShape, maskOf, resolveChannels, type Shape } from "./shape.ts";
import { Waiters } from "./waiters.ts";

/** In place of a cursor: behind this lies everything that is held. */
export const OLDEST = "oldest";

/** What one request asks of the log. */
export interface PollQuery {
  /** Patterns. Throws of `take` are FlarewireErrors where one of them names no channel. */
  readonly channels: readonly string[];
  /** Only events of these names; all when left out. */
  readonly names?: readonly EventName[] | undefined;
  /** A cursor as the server gave it, or {@link OLDEST}; left out: the head. */
  readonly after?: string | undefined;
  /** Most events of the answer, 1 or more. */
  readonly limit: number;
  /** How long to wait where there is nothing; 0: not at all. */
  readonly waitMs: number;
}

/** A page, or, when the wait brought nothing, the place up to which there was nothing. */
export type PollAnswer = EventPage | { readonly kind: "nothing"; readonly cursor: Cursor };

/** Answers requests for a part of the log; who is at the head may wait there. A client is a cursor that it brings along. */
export class LongPoll {
  readonly #log: EventLog;
  readonly #head: Head;
  readonly #clock: WallClock;
  readonly #waiters: Waiters;

  /** `stopping`: who waits when it aborts is answered at once. */
  constructor(options: {
    readonly log: EventLog;
    readonly head: Head;
    readonly clock: WallClock;
    readonly stopping: AbortSignal;
  }) {
    const { log, head, clock, stopping } = options;
    this.#log = log;
    this.#head = head;
    this.#clock = clock;
    this.#waiters = new Waiters(head, clock, stopping);
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Without `after` the answer is an empty page at the head, at once: a cursor to begin with. An aborted signal ends the wait. */
  async take(query: PollQuery, signal: AbortSignal): Promise<PollAnswer> {
    const shape = shapeOf(query);
    if (query.after === undefined) return emptyPage(this.#head.cursor);
    const start = query.after === OLDEST ? this.#log.oldest : readCursor(query.after);
    const untilMs = this.#clock.monotonic() + query.waitMs;
    for (let from = start; ; ) {
      const page = await readPage(
        { log: this.#log, head: this.#head },
        { shape, from, prev: start.seq, limit: query.limit },
      );
      if (page.kind === "lost" || page.count > 0 || page.more || query.waitMs === 0) return page;
      from = page.cursor;
      // The head may have moved since the page was made, and nobody would tell of that batch any more.
      if (from.seq < this.#head.cursor.seq) continue;
      const nothingUpTo = await this.#waiters.wait(shape, untilMs, signal);
      if (nothingUpTo) return { kind: "nothing", cursor: nothingUpTo };
    }
  }
}

function emptyPage(cursor: Cursor): EventPage {
  return { kind: "page", bytes: Buffer.alloc(0), count: 0, cursor, more: false };
}

function shapeOf({ channels, names }: PollQuery): Shape {
  const shape = createShape(maskOf(resolveChannels(channels)), jsonFraming);
  if (!names) return shape;
  const wanted = new Set(names);
  return { ...shape, selects: (record) => wanted.has(record.name) && shape.selects(record) };
}
