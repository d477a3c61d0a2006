import { BoundedMap } from "../../../base/lib/bounded-map.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { type Cursor, compileFilter, type Filter, formatCursor } from "../../../base/protocol/index.ts";
import { maskOf, resolveChannels } from "../channel-mask.ts";
import type { Claimant } from "../fair-queue.ts";
import type { Steps } from "../lists/list-walk.ts";
import { OLDEST, readCursor } from "../session/connect-query.ts";
import { selectionOf } from "../session/selection.ts";
import { createShape, type StreamShape } from "../session/stream-shape.ts";
import { TurnBudget } from "../turn-budget.ts";
import { type EventPage, jsonFraming, type PageContext, type PageRequest, readPage } from "./event-page.ts";
import { Waiters } from "./waiters.ts";

export interface PollQuery {
  /** Channel names or patterns. `take` rejects with FlarewireError if one matches no channel. */
  readonly channels: readonly string[];
  /** Default: all items and events. */
  readonly filter?: Filter | undefined;
  /** A cursor from the server, or {@link OLDEST}. Default: the head. */
  readonly after?: string | undefined;
  /** The time that `after` is, if it is one instead of a cursor; in milliseconds since 1970. */
  readonly afterMs?: number | undefined;
  /** Maximum number of events in the response, at least 1. */
  readonly limit: number;
  /**
   * How long to wait if there is no event, in milliseconds; 0 does not wait. Either way, `after`
   * may wait for `aheadWaitMs` until the head reaches it.
   */
  readonly waitMs: number;
  /** Adds the lists at the head to the response, if `after` is absent. */
  readonly snapshot?: boolean | undefined;
}

/** Shared pages, of about 1 MiB at most. */
const MAX_PAGES = 16;
/** A shared page must not end early because one of its readers is gone. */
const NEVER = new AbortController().signal;

/** A page; or, if no event came before the wait ended, the cursor from which to poll next. */
export type PollAnswer = EventPage | { readonly kind: "nothing"; readonly cursor: Cursor };

interface LongPollOptions extends PageContext {
  readonly clock: Clock;
  /** When it aborts, waiting requests are answered at once. */
  readonly stopping: AbortSignal;
  /** See HubLimits. Default 0. */
  readonly aheadWaitMs?: number;
  /** See HubOptions. Default: never. */
  readonly mayLackEvents?: () => boolean;
  /** Shares the event loop. Default: a budget of its own. */
  readonly turn?: TurnBudget;
}

/**
 * Reads the log for polling clients, and lets those at the head wait. Stores nothing of a client
 * between its polls.
 */
export class LongPoll {
  readonly #options: LongPollOptions;
  readonly #waiters: Waiters;
  readonly #turn: TurnBudget;
  /** Pages at the current head, by their requests. */
  readonly #pages = new BoundedMap<string, Promise<EventPage>>(MAX_PAGES);

  constructor(options: LongPollOptions) {
    const { head, clock, stopping } = options;
    this.#options = options;
    this.#turn = options.turn ?? new TurnBudget(() => clock.monotonic());
    this.#waiters = new Waiters(head, clock, stopping);
    head.onChange(() => this.#pages.clear());
    head.onRestart(() => this.#pages.clear());
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /**
   * Answers a query. Without `after`, returns an empty page with the head's cursor to start from.
   * An aborted signal ends the search and the wait. `by`: the client; default: the server. Rejects
   * with FlarewireError if the query is invalid.
   */
  async take(query: PollQuery, signal: AbortSignal, by?: Claimant): Promise<PollAnswer> {
    const { head, history, clock, stopping, mayLackEvents } = this.#options;
    const shape = shapeOf(query);
    if (query.after === undefined) {
      const page = emptyPage(head.cursor);
      if (!query.snapshot) return page;
      return { ...page, snapshot: history.listEnds(shape.selection.parts)[0]?.subarray(0, -1) };
    }
    const oldest = query.after === OLDEST ? this.#oldestOf(shape) : undefined;
    const start = oldest?.cursor ?? this.#startOf(query, shape);
    if (!start) return { kind: "lost", lost: { reason: "expired", events: null } };
    const deadlineMs = clock.monotonic() + query.waitMs;
    let steps = oldest?.steps;
    await this.#untilReached(start, signal);
    // The wait was cut short, or this server has events yet to read: the cursor may still be valid.
    const isUndecided = () => signal.aborted || stopping.aborted || mayLackEvents?.();
    if (this.#isAhead(start) && isUndecided()) return { kind: "nothing", cursor: start };
    const pause = () => this.#turn.pause(by);
    const request = { shape, prev: start.seq, limit: query.limit, pause, signal };
    for (let from = start; ; ) {
      const page = await this.#page({ ...request, from, steps });
      if (page.kind === "lost" || page.count > 0 || page.more || query.waitMs === 0) return page;
      from = page.cursor;
      steps = page.steps;
      // The head may have moved since the read, and no notification would follow for that batch.
      if (from.seq < head.cursor.seq) continue;
      const emptyUpTo = await this.#waiters.wait(shape, deadlineMs, signal);
      if (emptyUpTo) return { kind: "nothing", cursor: emptyUpTo };
    }
  }

  /** Reads a page. All who request it at one head share it (law L6). */
  async #page(request: PageRequest): Promise<EventPage> {
    const { shape, from, prev, limit, pause } = request;
    // The steps of a filtered page serve one reader.
    if (shape.selection.filtered) return readPage(this.#options, request);
    const key = `${shape.key} ${formatCursor(from)} ${prev} ${limit}`;
    const known = this.#pages.get(key);
    if (known) await pause();
    const page = known ?? readPage(this.#options, { ...request, signal: NEVER });
    if (!known) this.#pages.set(key, page);
    // A failure may be over before the head moves.
    page.catch(() => this.#pages.delete(key));
    return page;
  }

  /** Returns the cursor to read after; `undefined` if events after the query's time may be lost. */
  #startOf({ after = "", afterMs }: PollQuery, { selection }: StreamShape): Cursor | undefined {
    if (afterMs === undefined) return readCursor(after);
    const { log, head } = this.#options;
    const cursor = log.cursorAtTime(afterMs, !selection.filtered && selection.lasting);
    // The log may be ahead of the head's state.
    return cursor && cursor.seq > head.cursor.seq ? head.cursor : cursor;
  }

  #isAhead({ epoch, seq }: Cursor): boolean {
    const { head, aheadWaitMs = 0 } = this.#options;
    return aheadWaitMs > 0 && epoch === head.cursor.epoch && seq > head.cursor.seq;
  }

  /**
   * Waits for at most `aheadWaitMs` until the head reaches a cursor that the client may have from
   * another server.
   */
  async #untilReached(cursor: Cursor, signal: AbortSignal): Promise<void> {
    const { clock, aheadWaitMs = 0 } = this.#options;
    const deadlineMs = clock.monotonic() + aheadWaitMs;
    while (this.#isAhead(cursor)) {
      if (await this.#waiters.wait(EVERYTHING, deadlineMs, signal)) return;
    }
  }

  /**
   * Returns the oldest position to read from. With a filter that selects items, the lists there
   * must be known.
   */
  #oldestOf({ selection }: StreamShape): { readonly cursor: Cursor; readonly steps?: Steps } {
    const { log, history } = this.#options;
    if (!selection.filtered) return { cursor: selection.lasting ? log.oldestLasting : log.oldest };
    const { cursor, lists } = history.first;
    return { cursor, steps: history.walkFrom(lists) };
  }
}

function emptyPage(cursor: Cursor): Extract<EventPage, { kind: "page" }> {
  return { kind: "page", bytes: Buffer.alloc(0), count: 0, cursor, more: false, steps: undefined };
}

/** Most polls follow the same few channels without a filter. */
const shapes = new BoundedMap<string, StreamShape>(64);

function shapeOf({ channels, filter }: PollQuery): StreamShape {
  const create = () => {
    const part = { mask: maskOf(resolveChannels(channels)), filter: compileFilter(filter) };
    return createShape(selectionOf([part]), jsonFraming);
  };
  return filter ? create() : shapes.ensure(channels.join(), create);
}

const EVERYTHING = shapeOf({ channels: ["*"], limit: 1, waitMs: 0 });
