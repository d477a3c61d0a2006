import type { Clock } from "../../lib/time/clock.ts";
import { type Cursor, compileFilter, type Filter } from "../../protocol/index.ts";
import { maskOf, resolveChannels } from "../channel-mask.ts";
import type { Claimant } from "../fair-queue.ts";
import type { Steps } from "../lists/list-walk.ts";
import { readCursor } from "../session/connect-query.ts";
import { selectionOf } from "../session/selection.ts";
import { createShape, type StreamShape } from "../session/stream-shape.ts";
import { TurnBudget } from "../turn-budget.ts";
import { type EventPage, jsonFraming, type PageParts, readPage } from "./event-page.ts";
import { Waiters } from "./waiters.ts";

/** In place of a cursor: behind this lies everything that is held. */
export const OLDEST = "oldest";

/** What one request asks of the log. */
export interface PollQuery {
  /** Patterns. Throws of `take` are FlarewireErrors where one of them names no channel. */
  readonly channels: readonly string[];
  /** Only these items and events; all when left out. */
  readonly filter?: Filter | undefined;
  /** A cursor as the server gave it, or {@link OLDEST}; left out: the head. */
  readonly after?: string | undefined;
  /** Most events of the answer, 1 or more. */
  readonly limit: number;
  /** How long to wait where there is nothing; 0: not at all. */
  readonly waitMs: number;
  /** Without `after`: with the lists as they are there. */
  readonly snapshot?: boolean | undefined;
}

/** A page, or, when the wait brought nothing, the place up to which there was nothing. */
export type PollAnswer = EventPage | { readonly kind: "nothing"; readonly cursor: Cursor };

/** Answers requests for a part of the log; who is at the head may wait there. A client is a cursor that it brings along. */
export class LongPoll {
  readonly #parts: PageParts;
  readonly #clock: Clock;
  readonly #waiters: Waiters;
  readonly #stopping: AbortSignal;
  readonly #aheadWaitMs: number;
  readonly #turn: TurnBudget;

  /**
   * `stopping`: who waits when it aborts is answered at once. `aheadWaitMs`: as in HubLimits. `turn`: shares the event loop between long pages and everything else;
   * default: one of its own.
   */
  constructor(
    options: PageParts & {
      readonly clock: Clock;
      readonly stopping: AbortSignal;
      readonly aheadWaitMs?: number;
      readonly turn?: TurnBudget;
    },
  ) {
    const { log, head, history, clock, stopping, aheadWaitMs = 0 } = options;
    this.#turn = options.turn ?? new TurnBudget(() => clock.monotonic());
    this.#aheadWaitMs = aheadWaitMs;
    this.#parts = { log, head, history };
    this.#clock = clock;
    this.#stopping = stopping;
    this.#waiters = new Waiters(head, clock, stopping);
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /**
   * Without `after` the answer is an empty page at the head, at once: a cursor to begin with. An aborted signal ends the search and the wait. `by`: the client that asks; default: the
   * server itself.
   */
  async take(query: PollQuery, signal: AbortSignal, by?: Claimant): Promise<PollAnswer> {
    const { head, history } = this.#parts;
    const shape = shapeOf(query);
    if (query.after === undefined) {
      const page = emptyPage(head.cursor);
      return query.snapshot ? { ...page, snapshot: history.snapshotText(shape.selection.parts) } : page;
    }
    const oldest = query.after === OLDEST ? this.#oldestOf(shape) : undefined;
    const start = oldest?.cursor ?? readCursor(query.after);
    const untilMs = this.#clock.monotonic() + query.waitMs;
    let steps = oldest?.steps;
    await this.#untilReached(start, signal);
    // The wait was cut short, so nobody can say that the cursor is lost.
    if (this.#isAhead(start) && (signal.aborted || this.#stopping.aborted))
      return { kind: "nothing", cursor: start };
    const pause = () => this.#turn.pause(by);
    const asked = { shape, prev: start.seq, limit: query.limit, pause, signal };
    for (let from = start; ; ) {
      const page = await readPage(this.#parts, { ...asked, from, steps });
      if (page.kind === "lost" || page.count > 0 || page.more || query.waitMs === 0) return page;
      from = page.cursor;
      steps = page.steps;
      // The head may have moved since the page was made, and nobody would tell of that batch any more.
      if (from.seq < head.cursor.seq) continue;
      const nothingUpTo = await this.#waiters.wait(shape, untilMs, signal);
      if (nothingUpTo) return { kind: "nothing", cursor: nothingUpTo };
    }
  }

  /** Whether the answer may have to wait: for an event, or for a place that this server may hear of in a moment. */
  mayWait({ after, waitMs }: PollQuery): boolean {
    return waitMs > 0 || (after !== undefined && after !== OLDEST && this.#isAhead(readCursor(after)));
  }

  #isAhead({ epoch, seq }: Cursor): boolean {
    const { cursor } = this.#parts.head;
    return this.#aheadWaitMs > 0 && epoch === cursor.epoch && seq > cursor.seq;
  }

  /** Waits for a place that this server may hear of in a moment. */
  async #untilReached(place: Cursor, signal: AbortSignal): Promise<void> {
    const untilMs = this.#clock.monotonic() + this.#aheadWaitMs;
    while (this.#isAhead(place)) {
      if (await this.#waiters.wait(EVERYTHING, untilMs, signal)) return;
    }
  }

  /** Whoever filters needs the lists too, and they do not reach back quite as far as the log. */
  #oldestOf({ selection }: StreamShape): { readonly cursor: Cursor; readonly steps?: Steps } {
    const { log, history } = this.#parts;
    if (!selection.filtered) return { cursor: selection.lasting ? log.oldestLasting : log.oldest };
    const { cursor, lists } = history.first;
    return { cursor, steps: history.walkFrom(lists) };
  }
}

function emptyPage(cursor: Cursor): Extract<EventPage, { kind: "page" }> {
  return { kind: "page", bytes: Buffer.alloc(0), count: 0, cursor, more: false, steps: undefined };
}

function shapeOf({ channels, filter }: PollQuery): StreamShape {
  const part = { mask: maskOf(resolveChannels(channels)), filter: compileFilter(filter) };
  return createShape(selectionOf([part]), jsonFraming);
}

const EVERYTHING = shapeOf({ channels: ["*"], limit: 1, waitMs: 0 });
