import { randomUUID } from "node:crypto";
import type { Clock } from "../../lib/time/clock.ts";
import { type Cursor, type Freshness, formatCursor, type SourceInfo } from "../../protocol/index.ts";
import { followOnce } from "./leader-connection.ts";
import { LeaderHealth } from "./leader-health.ts";
import {
  type LeaderBase,
  type LeaderMessage,
  ProtocolViolation,
  readLeaderMessage,
} from "./leader-message.ts";
import { type LeaderBatch, LeaderStream, LogDivergence, type MirrorPosition } from "./leader-stream.ts";
import { type LeaderEnd, leaderTrouble, leaderWaitMs } from "./leader-wait.ts";

/** What a leader's log is written into. Calls are made one after the other, without waiting. */
export interface ReplicaSink {
  /** Where it is now; `undefined` before the first base. */
  readonly position: MirrorPosition | undefined;
  /** Begins anew at `cursor`. */
  begin(cursor: Cursor, base: LeaderBase): Promise<void>;
  /** Goes on with a whole batch. */
  publish(batch: LeaderBatch): Promise<void>;
}

/** Options of {@link createLeader}. */
export interface LeaderOptions {
  /** The leader's base address: `http`, `https`, `ws` or `wss`, without a slash at its end. */
  readonly url: string;
  /** Shown to the leader in each handshake; none by default. It is never told. */
  readonly key?: string | undefined;
  readonly clock: Clock;
  /** Age from which data counts as stale, and time without a connection from which it counts as down. */
  readonly staleAfterMs: number;
  /** From 0 up to 1, for the jitter of waits. Default `Math.random`. */
  readonly random?: () => number;
  /** Told, in a sentence, what an operator should know: a connection that stands, that was lost, that cannot be had. Must not throw. */
  readonly onNotice: (sentence: string, isTrouble: boolean) => void;
}

/** Another Flarewire, whose log is followed. */
export interface Leader {
  /** What the leader says of its own source; before its first answer, that nothing is known. */
  readonly info: SourceInfo;
  /** A connection stands, and its events go on from where the mirror is. */
  readonly isLinked: boolean;
  freshness(): Freshness;
  /** Follows into `mirror`, connecting again and again, until the signal aborts; never rejects. */
  run(mirror: ReplicaSink, signal: AbortSignal): Promise<void>;
}

/** Silence that is borne before the leader has said how much there may be. */
const FIRST_SILENCE_MS = 35_000;
const SILENCE_BOUNDS = { leastMs: 1_000, mostMs: 300_000 } as const;
const MAX_REASON = 300;
const MAX_NAME = 64;
const MAX_PARTS = 32;

/** Follows another Flarewire over its stream. */
export function createLeader(options: LeaderOptions): Leader {
  return new FollowedLeader(options);
}

class FollowedLeader implements Leader {
  readonly #options: LeaderOptions;
  readonly #health: LeaderHealth;
  /** The connection after a broken one takes its place: the leader may not have noticed yet. */
  readonly #clientId = randomUUID();
  #info: SourceInfo = {
    name: "follow",
    origin: "live",
    facts: { trades: false, liquidity: false, listings: false, profiles: false },
  };
  #isLinked = false;
  #silenceMs = FIRST_SILENCE_MS;

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#health = new LeaderHealth(options.staleAfterMs, options.clock.monotonic());
  }

  get info(): SourceInfo {
    return this.#info;
  }

  get isLinked(): boolean {
    return this.#isLinked;
  }

  freshness(): Freshness {
    const { clock } = this.#options;
    return this.#health.judge(clock.monotonic(), clock.now());
  }

  async run(mirror: ReplicaSink, signal: AbortSignal): Promise<void> {
    const { clock, random = Math.random, onNotice } = this.#options;
    let failures = 0;
    let anew = false;
    while (!signal.aborted) {
      const position = anew ? undefined : mirror.position;
      const { end, wasLinked } = await this.#connect(mirror, position, signal);
      this.#isLinked = false;
      if (signal.aborted) return;
      const sentence = `the leader ${leaderTrouble(end)}`;
      this.#health.cut(sentence, clock.monotonic());
      anew = end.kind === "misfit";
      failures = wasLinked && !anew ? 0 : failures + 1;
      const waitMs = leaderWaitMs(end, failures, random);
      onNotice(`${sentence}; connecting again in ${(waitMs / 1_000).toFixed(1)} s`, true);
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
  }

  /** One connection, from its beginning to its end. Resolves when everything that it brought is published. */
  async #connect(
    mirror: ReplicaSink,
    position: MirrorPosition | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly end: LeaderEnd; readonly wasLinked: boolean }> {
    const { clock, key } = this.#options;
    const over = new AbortController();
    const goaway = new AbortController();
    const stream = new LeaderStream(position);
    this.#silenceMs = FIRST_SILENCE_MS;
    let wasLinked = false;
    let greeted: Cursor | undefined;
    let published: Promise<unknown> = Promise.resolve();
    let failure: LeaderEnd | undefined;
    const publish = (work: Promise<void>) => {
      const caught = work.catch((error: unknown) => {
        failure = { kind: "misfit", reason: reasonOf(error) };
        over.abort();
      });
      published = Promise.all([published, caught]);
    };
    const take = (message: LeaderMessage, characters: number): LeaderEnd | undefined => {
      if (message.type === "hello") greeted = message.cursor;
      if (!greeted) throw new ProtocolViolation("its first message is not that of a Flarewire");
      this.#note(message);
      if (message.type === "refused") return { kind: "unfit", reason: message.reason };
      if (message.type === "goaway") this.#leaveAfter(message.afterMs, goaway, over);
      const step = stream.take(message, characters);
      if (step.kind === "begun") publish(mirror.begin(step.cursor, step.base));
      if (step.kind === "begun" || step.kind === "resumed") {
        wasLinked = true;
        this.#linked(step.kind, stream.position);
      }
      if (step.kind === "batch") {
        publish(mirror.publish(step.batch));
        this.#batch(step.batch, greeted);
      }
      return undefined;
    };
    const onText = (text: string): LeaderEnd | undefined => {
      if (failure) return failure;
      this.#health.heard(clock.monotonic());
      try {
        return take(readLeaderMessage(text), text.length);
      } catch (error) {
        if (error instanceof LogDivergence) return { kind: "misfit", reason: error.message };
        return { kind: "unfit", reason: reasonOf(error) };
      }
    };
    const until = AbortSignal.any([signal, over.signal]);
    const silenceMs = () => this.#silenceMs;
    const url = this.#address(position);
    const end = await followOnce({ url, key, clock, signal: until, onText, silenceMs });
    goaway.abort();
    await published;
    if (failure) return { end: failure, wasLinked };
    return { end: over.signal.aborted ? { kind: "moved" } : end, wasLinked };
  }

  #address(position: MirrorPosition | undefined): URL {
    const url = new URL(`${this.#options.url.replace(/^http/, "ws")}/api/v1/stream`);
    url.searchParams.set("channels", "*");
    url.searchParams.set("mirror", "true");
    url.searchParams.set("client", this.#clientId);
    if (position) url.searchParams.set("after", formatCursor(position.cursor));
    return url;
  }

  #leaveAfter(afterMs: number, goaway: AbortController, over: AbortController): void {
    const slot = this.#options.clock.sleep(afterMs, goaway.signal);
    slot.then(() => over.abort()).catch(() => undefined);
  }

  #linked(kind: "begun" | "resumed", position: MirrorPosition | undefined): void {
    this.#isLinked = true;
    this.#health.linked();
    const from = position ? ` at ${formatCursor(position.cursor)}` : "";
    const how = kind === "resumed" ? "goes on" : "begins";
    this.#options.onNotice(`the leader is connected; its log ${how}${from}`, false);
  }

  #note(message: LeaderMessage): void {
    const nowMs = this.#options.clock.monotonic();
    if (message.type === "heartbeat") this.#health.told(bounded(message.heartbeat.freshness), nowMs);
    if (message.type !== "hello") return;
    const { source, freshness, heartbeat_interval_ms, silence_limit_ms } = message.hello;
    const { leastMs, mostMs } = SILENCE_BOUNDS;
    this.#info = { ...source, name: source.name.slice(0, 100) };
    this.#silenceMs = Math.min(mostMs, Math.max(leastMs, silence_limit_ms));
    this.#health.told(bounded(freshness), nowMs, Math.min(mostMs, Math.max(0, heartbeat_interval_ms)));
  }

  /** What came after the head that the leader greeted with is news; what came before is backlog. */
  #batch({ events, observedAtMs }: LeaderBatch, greeted: Cursor): void {
    const nowMs = this.#options.clock.monotonic();
    for (const { seq, body } of events) {
      if (seq <= greeted.seq) continue;
      if (body.name === "source-status")
        this.#health.changed(body.data.state, body.data.reason.slice(0, MAX_REASON), nowMs);
      else if (observedAtMs !== undefined) this.#health.news(body.observed_at, nowMs);
    }
  }
}

function bounded(freshness: Freshness): Freshness {
  const { reason, parts } = freshness;
  const some = parts?.slice(0, MAX_PARTS).map((part) => ({
    ...part,
    name: part.name.slice(0, MAX_NAME),
    reason: part.reason.slice(0, MAX_REASON),
  }));
  return { ...freshness, reason: reason.slice(0, MAX_REASON), ...(some ? { parts: some } : {}) };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, MAX_REASON) : "it cannot be read";
}
