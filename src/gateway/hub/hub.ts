import {
  ALL_RIGHTS,
  type CloseReason,
  checkMirrorRights,
  type ErrorCode,
  type EventBody,
  FlarewireError,
  type Freshness,
  listsOf,
  type Rights,
  type Seq,
  type Step,
} from "../../base/protocol/index.ts";
import type { LogRecord } from "../log/event-log.ts";
import { maskOfRecords } from "./channel-mask.ts";
import { BacklogFrameCache } from "./delivery/backlog-frame-cache.ts";
import { EventHeadCache } from "./delivery/event-frames.ts";
import type { Framing } from "./delivery/framing.ts";
import { Group, type GroupMember } from "./group.ts";
import { GroupIndex } from "./group-index.ts";
import type { Head, HeadBase } from "./head.ts";
import { createHubCounters, type HubCounters } from "./hub-counters.ts";
import { DEFAULT_HUB_LIMITS, type HubLimits } from "./hub-limits.ts";
import type { HubOptions } from "./hub-options.ts";
import { ListHistory } from "./lists/list-history.ts";
import { BatchSteps } from "./lists/list-walk.ts";
import { type ConnectQuery, checkQuery } from "./session/connect-query.ts";
import { baseText, heartbeatText, helloText } from "./session/messages.ts";
import { NOT_SUBSCRIBED, type Selection } from "./session/selection.ts";
import { Session } from "./session/session.ts";
import type { SessionHost, Watch } from "./session/session-host.ts";
import type { Socket } from "./session/socket.ts";
import { createShape, shapeKey } from "./session/stream-shape.ts";
import { TurnBudget } from "./turn-budget.ts";

const TICK_MS = 1_000;
const DRAIN_TICK_MS = 50;

/**
 * Fans out the log: sends every session the events that its subscriptions select. Live sessions
 * with the same `StreamShape` share their bytes (laws L5 and L6, src/README.md). A session whose
 * socket is full catches up later, from the log.
 */
export class Hub {
  readonly limits: HubLimits;
  readonly counters: HubCounters = createHubCounters();
  /** Event-loop budget for work that can wait: admission, catching up, long polls and alerts. */
  readonly turn: TurnBudget;
  /** The lists at the head and at earlier cursors. */
  readonly history: ListHistory;
  readonly #options: HubOptions;
  readonly #heartbeatMs: number;
  readonly #groups = new GroupIndex();
  /** Each batch begins with another group, so that no transport is always last. */
  #round = 0;
  readonly #sessions = new Set<Session>();
  readonly #watched: Readonly<Record<Watch, Set<Session>>> = {
    unsubscribed: new Set(),
    behind: new Set(),
    ahead: new Set(),
    closing: new Set(),
  };
  /** Seq of each channel's latest event, up to the head. */
  #positions: Record<string, number>;
  readonly #host: SessionHost<Session>;
  readonly #stops: (() => void)[];
  #heartbeatAtMs: number;
  readonly #stopping = new AbortController();
  #draining = false;

  constructor(options: HubOptions) {
    const { clock, head, log } = options;
    this.#options = options;
    this.limits = { ...DEFAULT_HUB_LIMITS, ...options.limits };
    this.#heartbeatMs = options.heartbeatMs ?? 15_000;
    this.#positions = { ...log.positions };
    this.history = new ListHistory(log, head.snapshot, options.known, options.notify);
    this.#heartbeatAtMs = clock.monotonic() + this.#heartbeatMs;
    this.turn = new TurnBudget(() => clock.monotonic());
    this.#host = this.#createHost();
    this.#stops = [
      head.onChange((records, _head, events) => {
        const startMs = clock.monotonic();
        this.#publish(records, events);
        const pause = this.turn.yieldAfter(clock.monotonic() - startMs);
        if (pause) head.pauseFor(pause);
      }),
      clock.every(TICK_MS, () => this.#tick()),
    ];
    head.onRestart((base) => this.#restart(base));
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** The largest lag of a session, in events of the log; 0 if all are at the head. */
  get worstLag(): number {
    let worst = 0;
    for (const session of this.#watched.behind) worst = Math.max(worst, session.lag);
    return worst;
  }

  get behind(): number {
    return this.#watched.behind.size;
  }

  /** The state that the sessions follow. */
  get head(): Pick<Head, "snapshot" | "onChange" | "onRestart"> {
    return this.#options.head;
  }

  /**
   * Reason for refusing new connections; `undefined` if they are accepted. Callers check it before
   * the upgrade, while plain HTTP can report an error: {@link connect} does not.
   */
  get refusal(): Extract<ErrorCode, "draining" | "not-ready"> | undefined {
    if (this.#draining) return "draining";
    return this.#options.head.ready ? undefined : "not-ready";
  }

  /** The state of the source, as in `hello`. */
  get freshness(): Freshness {
    return this.#options.freshness();
  }

  /**
   * Checks whether another server may mirror this one. Throws `forbidden` if its rights do not
   * allow that. Throws `not-ready` while this server is cut off from its leader: otherwise servers
   * in a ring would treat their own events as new.
   */
  checkMirror(rights: Rights): void {
    checkMirrorRights(rights);
    if (this.#options.mayBeMirrored?.() ?? true) return;
    throw new FlarewireError(
      "not-ready",
      "this server mirrors another one and is disconnected from it; retry later",
    );
  }

  /** Whether the leader may have events that this server has not read: see {@link HubOptions}. */
  get mayLackEvents(): boolean {
    return this.#options.mayLackEvents?.() ?? false;
  }

  /**
   * Aborts when the hub stops accepting connections. Waiting requests are then answered at once.
   */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /**
   * Accepts a connection: sends `hello` and runs its URL's subscription. During a drain, closes it
   * right after that. Throws FlarewireError if the query is invalid or exceeds the `rights`;
   * default: all rights.
   */
  connect(socket: Socket, framing: Framing, query: ConnectQuery = {}, rights: Rights = ALL_RIGHTS): Session {
    checkQuery(query, rights);
    const session = new Session(this.#host, socket, framing, query, rights);
    this.#sessions.add(session);
    if (this.#draining) session.close("draining");
    return session;
  }

  /**
   * Refuses new connections, sends each session a `goaway` with its own delay, and closes them
   * evenly over `windowMs` (0: at once, without `goaway`). Resolves when all have ended. A second
   * call may shorten the window.
   */
  drain(windowMs: number, reason: CloseReason = "draining"): Promise<void> {
    this.#draining = true;
    this.#stopping.abort();
    const leaving = [...this.#sessions];
    if (windowMs > 0) {
      for (const [index, session] of leaving.entries())
        session.goAway((index / leaving.length) * windowMs, windowMs);
    }
    return this.#closeEvenly(leaving, windowMs, reason);
  }

  /**
   * Stops following the head and closes all connections with `going-away`. Resolves when all have
   * ended.
   */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.drain(0, "going-away");
  }

  /**
   * Closes these sessions evenly over the window. Resolves once every session of the hub has ended.
   */
  #closeEvenly(leaving: readonly Session[], windowMs: number, reason: CloseReason): Promise<void> {
    const { clock } = this.#options;
    const startMs = clock.monotonic();
    let next = 0;
    return new Promise((resolve) => {
      const step = () => {
        const nowMs = clock.monotonic();
        const share = windowMs > 0 ? (nowMs - startMs) / windowMs : 1;
        const due = Math.min(leaving.length, Math.ceil(share * leaving.length));
        for (; next < due; next++) leaving[next]?.close(reason);
        this.#check("closing", nowMs);
        if (this.#sessions.size > 0) return;
        stop();
        resolve();
      };
      const stop = clock.every(DRAIN_TICK_MS, step);
      step();
    });
  }

  #createHost(): SessionHost<Session> {
    const { log, head, clock, onError, info, freshness, serverName } = this.#options;
    return {
      log,
      head,
      history: this.history,
      counters: this.counters,
      turn: this.turn,
      backlogFrames: new BacklogFrameCache(),
      limits: this.limits,
      monotonicMs: () => clock.monotonic(),
      wallMs: () => clock.now(),
      hello: (plan) =>
        helloText({
          plan,
          server: serverName,
          nowMs: clock.now(),
          cursor: head.cursor,
          heartbeatMs: this.#heartbeatMs,
          silenceLimitMs: this.#options.silenceLimitMs ?? 2 * this.#heartbeatMs + 5_000,
          limits: this.limits,
          source: info(),
          freshness: freshness(),
        }),
      checkMirror: (rights) => this.checkMirror(rights),
      mayLackEvents: () => this.mayLackEvents,
      base: () => baseText(head.observedAtMs, this.#positions, this.history.lists),
      join: (member, selection, framing, prev) => this.#join(member, selection, framing, prev),
      leave: (member, group) => {
        group.remove(member);
        if (group.size === 0) this.#groups.delete(group);
      },
      watch: (session, what, on) => {
        if (on) this.#watched[what].add(session);
        else this.#watched[what].delete(session);
      },
      gone: (session) => {
        this.#sessions.delete(session);
        for (const watched of Object.values(this.#watched)) watched.delete(session);
      },
      onError,
    };
  }

  #join(member: GroupMember, selection: Selection, framing: Framing, prev: Seq): Group {
    let group = this.#groups.get(shapeKey(selection, framing));
    if (!group) {
      group = new Group(createShape(selection, framing), prev);
      this.#groups.add(group);
    }
    group.add(member, prev);
    return group;
  }

  #publish(records: readonly LogRecord[], events: readonly EventBody[]): void {
    const steps = this.#advance(records, events);
    if (records.length === 0) return;
    for (const { channel, seq } of records) this.#positions[channel] = seq;
    const heads = new EventHeadCache(this.#options.log.epoch);
    const batchSteps = new BatchSteps(records, steps);
    const mask = maskOfRecords(records);
    // A session that leaves its group here may create a new group. The new group starts after this
    // batch, so this loop need not visit it.
    const groups = [...this.#groups.affectedBy(mask, steps)];
    const first = this.#round++ % (groups.length || 1);
    for (const [group, affected] of [...groups.slice(first), ...groups.slice(0, first)]) {
      const selected = affected ? affected.flatMap((index) => records[index] ?? []) : records;
      group.publish(selected, heads, batchSteps, this.#host);
    }
    for (const session of [...this.#watched.ahead]) session.ready();
  }

  /** Starts a new history. Closes all sessions: each client learns on resuming what it lost. */
  #restart({ lists }: HeadBase): void {
    const { head, log } = this.#options;
    this.#positions = { ...log.positions };
    this.history.restart(lists, head.cursor.seq);
    this.#host.backlogFrames.clear();
    for (const session of [...this.#sessions]) session.close("reset");
  }

  /**
   * Advances the lists. If that fails, filters cannot select items, so sessions with such a filter
   * are closed.
   */
  #advance(records: readonly LogRecord[], events: readonly EventBody[]): readonly Step[] {
    const { head } = this.#options;
    try {
      return this.history.advance(records, events, head.snapshot);
    } catch (error) {
      this.history.restart(listsOf(head.snapshot), head.cursor.seq);
      for (const group of this.#groups.all()) if (group.shape.selection.filtered) group.fail(error);
      return [];
    }
  }

  #tick(): void {
    const nowMs = this.#options.clock.monotonic();
    for (const what of ["unsubscribed", "behind", "ahead", "closing"] as const) this.#check(what, nowMs);
    if (nowMs < this.#heartbeatAtMs) return;
    this.#heartbeatAtMs +=
      this.#heartbeatMs * Math.max(1, Math.ceil((nowMs - this.#heartbeatAtMs) / this.#heartbeatMs));
    for (const group of this.#groups.all()) {
      // A heartbeat has a cursor, and no message may move a client back (PROTOCOL.md, W14). Before
      // its first subscription, a client may be about to resume from a cursor beyond this head.
      if (group.shape.selection !== NOT_SUBSCRIBED) this.#heartbeat(group);
    }
  }

  #check(what: Watch, nowMs: number): void {
    for (const session of this.#watched[what]) session.check(nowMs);
  }

  #heartbeat(group: Group): void {
    const { head, clock, freshness } = this.#options;
    const positions = Object.fromEntries(
      group.shape.selection.channels.map((channel) => [channel, this.#positions[channel] ?? 0]),
    );
    const about = { cursor: head.cursor, nowMs: clock.now(), positions, freshness: freshness() };
    group.send(group.shape.framing.message(heartbeatText(about)));
  }
}
