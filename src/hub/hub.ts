import type { LogRecord } from "../log/event-log.ts";
import {
  type CloseReason,
  checkMirrorPlan,
  type ErrorCode,
  type EventBody,
  FlarewireError,
  listsOf,
  type Plan,
  type Seq,
  type Step,
} from "../protocol/index.ts";
import { maskOfRecords } from "./channel-mask.ts";
import { BacklogFrameCache } from "./delivery/backlog-frame-cache.ts";
import { FramePrefixes } from "./delivery/event-frames.ts";
import type { Framing } from "./delivery/framing.ts";
import { Group, type GroupMember } from "./group.ts";
import { GroupIndex } from "./group-index.ts";
import type { HeadBase } from "./head.ts";
import { createTally, type HubCounters } from "./hub-counters.ts";
import { DEFAULT_HUB_LIMITS, type HubLimits } from "./hub-limits.ts";
import type { HubOptions } from "./hub-options.ts";
import { ListHistory } from "./lists/list-history.ts";
import { BatchSteps } from "./lists/list-walk.ts";
import { closeGradually } from "./session/close-gradually.ts";
import { type ConnectQuery, checkQuery } from "./session/connect-query.ts";
import { baseText, heartbeatText, helloText } from "./session/messages.ts";
import { NOT_SUBSCRIBED, type Selection } from "./session/selection.ts";
import { Session } from "./session/session.ts";
import type { SessionHost, Watch } from "./session/session-host.ts";
import type { Socket } from "./session/socket.ts";
import { createShape, shapeKey } from "./session/stream-shape.ts";
import { TurnBudget } from "./turn-budget.ts";

/** How often deadlines are looked at. */
const TICK_MS = 1_000;
/**
 * Fan-out: gives every session what its subscriptions select of the log, from its own cursor on. Sessions of one shape that are
 * at the head share their bytes (laws L5 and L6); whoever cannot take them leaves and is caught up out of the log.
 */
export class Hub {
  /** What a connection is allowed; `inboundBytes` is for the transport to enforce. */
  readonly limits: HubLimits;
  /** What was done since the start. */
  readonly tally: HubCounters = createTally();
  /** What of the event loop those who come and those who are caught up may take. */
  readonly turn: TurnBudget;
  readonly #options: HubOptions;
  readonly #heartbeatMs: number;
  readonly #groups = new GroupIndex();
  readonly #history: ListHistory;
  readonly #sessions = new Set<Session>();
  readonly #watched: Readonly<Record<Watch, Set<Session>>> = {
    unsubscribed: new Set(),
    behind: new Set(),
    early: new Set(),
    closing: new Set(),
  };
  /** Seq of each channel's latest event up to the head. */
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
    this.#history = new ListHistory(log, head.snapshot, options.known);
    this.#heartbeatAtMs = clock.monotonic() + this.#heartbeatMs;
    this.turn = new TurnBudget(() => clock.monotonic());
    this.#host = this.#createHost();
    this.#stops = [
      head.onChange((records, _head, events) => {
        const beganMs = clock.monotonic();
        this.#publish(records, events);
        const rest = this.turn.rest(clock.monotonic() - beganMs);
        if (rest) head.pauseFor(rest);
      }),
      clock.every(TICK_MS, () => this.#tick()),
    ];
    head.onRestart((base) => this.#restart(base));
  }

  /** Sessions whose connection is not over. */
  get size(): number {
    return this.#sessions.size;
  }

  /** How many events lie between the head and whoever is furthest behind it; 0 when nobody is. Looks at those that are behind only. */
  get worstLag(): number {
    let worst = 0;
    for (const session of this.#watched.behind) worst = Math.max(worst, session.lag);
    return worst;
  }

  /** Connections that are behind the head. */
  get behind(): number {
    return this.#watched.behind.size;
  }

  /** The lists at the head and before. */
  get history(): ListHistory {
    return this.#history;
  }

  /** Why no connection is taken now; `undefined` when they are. To be asked while a refusal is still plain HTTP. */
  get refusal(): Extract<ErrorCode, "draining" | "not-ready"> | undefined {
    if (this.#draining) return "draining";
    return this.#options.head.ready ? undefined : "not-ready";
  }

  /**
   * For a server that wants to mirror this one: throws FlarewireError `forbidden` when its plan lacks something, and `not-ready` while this one
   * mirrors another and is cut off from it. So a server that is sent to itself, or in a ring, never gets its own echo for news.
   */
  checkMirror(plan: Plan | undefined): void {
    checkMirrorPlan(plan);
    if (this.#options.mayBeMirrored?.() ?? true) return;
    throw new FlarewireError("not-ready", "this server follows another one, and has no connection to it now");
  }

  /** Aborts when no connection is taken any more: who waits for an event is to be answered with what there is. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /**
   * Takes a connection: says `hello`, and answers what its address asks for. Throws FlarewireError when the query is wrong. A
   * connection that comes in too late, while draining, is closed at once. It may follow what `plan` has, for as long as it lasts; without one, all.
   */
  connect(socket: Socket, framing: Framing, query: ConnectQuery = {}, plan?: Plan): Session {
    checkQuery(query, plan);
    const session = new Session(this.#host, socket, framing, query, plan);
    this.#sessions.add(session);
    if (this.#draining) session.close("draining");
    return session;
  }

  /**
   * Takes no more connections, tells each that is there when its turn is, lets them go one by one over `windowMs` (0: all at once, untold), ends
   * what does not go by itself within the grace, and resolves when all are gone. Called again, it hastens: the shorter window counts.
   */
  drain(windowMs: number, reason: CloseReason = "draining"): Promise<void> {
    this.#draining = true;
    this.#stopping.abort();
    const { clock } = this.#options;
    const startMs = clock.monotonic();
    const leaving = [...this.#sessions];
    if (windowMs > 0) {
      for (const [at, session] of leaving.entries())
        session.goAway((at / leaving.length) * windowMs, windowMs);
    }
    return closeGradually(leaving, {
      ...{ clock, startMs, windowMs, reason },
      check: (nowMs) => this.#check("closing", nowMs),
      isEmpty: () => this.#sessions.size === 0,
    });
  }

  /** The hard stop: everybody is told `going-away` at once. Resolves when all are gone; the hub is of no use afterwards. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.drain(0, "going-away");
  }

  #createHost(): SessionHost<Session> {
    const { log, head, clock, onError, info, freshness, serverName } = this.#options;
    return {
      log,
      head,
      history: this.#history,
      tally: this.tally,
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
      checkMirror: (plan) => this.checkMirror(plan),
      base: () => baseText(head.observedAtMs, this.#positions, this.#history.lists),
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
    const heads = new FramePrefixes(this.#options.log.epoch);
    const batchSteps = new BatchSteps(records, steps);
    const mask = maskOfRecords(records);
    // A session that leaves one group in this loop may make another, which then has the batch already.
    for (const [group, concern] of this.#groups.concerned(mask, steps)) {
      const some = concern ? concern.flatMap((at) => records[at] ?? []) : records;
      group.publish(some, heads, batchSteps, this.tally);
    }
    for (const session of [...this.#watched.early]) session.ready();
  }

  /** The head is that of another history. Whoever is here is told to come again: its cursor then says what it lost. */
  #restart({ lists }: HeadBase): void {
    const { head, log } = this.#options;
    this.#positions = { ...log.positions };
    this.#history.restart(lists, head.cursor.seq);
    this.#host.backlogFrames.clear();
    for (const session of [...this.#sessions]) session.close("reset");
  }

  /** Moves the lists along. Where the events do not lead to the state, no filter can be followed across them: those who have one begin anew. */
  #advance(records: readonly LogRecord[], events: readonly EventBody[]): readonly Step[] {
    const { head } = this.#options;
    try {
      return this.#history.advance(records, events, head.snapshot);
    } catch (error) {
      this.#history.restart(listsOf(head.snapshot), head.cursor.seq);
      for (const group of this.#groups.all()) if (group.shape.selection.filtered) group.fail(error);
      return [];
    }
  }

  #tick(): void {
    const nowMs = this.#options.clock.monotonic();
    for (const what of ["unsubscribed", "behind", "early", "closing"] as const) this.#check(what, nowMs);
    if (nowMs < this.#heartbeatAtMs) return;
    this.#heartbeatAtMs +=
      this.#heartbeatMs * Math.max(1, Math.ceil((nowMs - this.#heartbeatAtMs) / this.#heartbeatMs));
    for (const group of this.#groups.all()) {
      // The head may lie before the cursor that such a client comes with.
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
