import { randomUUID } from "node:crypto";
import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { type Cursor, type Freshness, formatCursor, type SourceInfo } from "../../base/protocol/index.ts";
import { followOnce } from "./leader-connection.ts";
import { LeaderHealth } from "./leader-health.ts";
import {
  type LeaderBase,
  type LeaderMessage,
  ProtocolViolation,
  readLeaderMessage,
} from "./leader-message.ts";
import { type LeaderBatch, LeaderStream, LogDivergence, type MirrorPosition } from "./leader-stream.ts";
import { describeLeaderEnd, type LeaderEnd, leaderWaitMs } from "./leader-wait.ts";

/** Receives a leader's log. The caller does not await a call before it makes the next one. */
export interface ReplicaSink {
  readonly position: MirrorPosition | undefined;
  /** Starts over at `cursor` from the state `base`. */
  begin(cursor: Cursor, base: LeaderBase): Promise<void>;
  publish(batch: LeaderBatch): Promise<void>;
}

interface LeaderOptions {
  /** The leader's base address: `http`, `https`, `ws` or `wss`, without a trailing slash. */
  readonly url: string;
  /** API key, sent in each handshake and never logged. Default: none. */
  readonly key?: string | undefined;
  readonly clock: Clock;
  /** Milliseconds after which data counts as stale, and a lost connection as down. */
  readonly staleAfterMs: number;
  /** Yields [0, 1) for the jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Receives the connection's state for the operator. Must not throw. */
  readonly notify: Notify;
}

/** Another Flarewire whose log is mirrored. */
export interface Leader {
  /** The leader's description of its source. Before its first `hello`, all facts are false. */
  readonly info: SourceInfo;
  /** Whether the leader has confirmed the subscription of the current connection. */
  readonly isConnected: boolean;
  freshness(): Freshness;
  /** Mirrors the leader into `mirror`, reconnecting until the signal aborts; never rejects. */
  run(mirror: ReplicaSink, signal: AbortSignal): Promise<void>;
}

/** Maximum silence until the leader states its limit. */
const FIRST_SILENCE_MS = 35_000;
const SILENCE_BOUNDS = { minMs: 1_000, maxMs: 300_000 } as const;
const MAX_REASON = 300;
const MAX_NAME = 64;
const MAX_PARTS = 32;

/** Mirrors another Flarewire from its stream. */
export class FollowedLeader implements Leader {
  readonly #options: LeaderOptions;
  readonly #health: LeaderHealth;
  /** Lets a new connection replace a broken one that the leader may still count. */
  readonly #clientId = randomUUID();
  #info: SourceInfo = {
    name: "follow",
    origin: "live",
    facts: { trades: false, liquidity: false, listings: false, profiles: false },
  };
  #isConnected = false;
  #silenceMs = FIRST_SILENCE_MS;

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#health = new LeaderHealth(options.staleAfterMs, options.clock.monotonic());
  }

  get info(): SourceInfo {
    return this.#info;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  freshness(): Freshness {
    const { clock } = this.#options;
    return this.#health.judge(clock.monotonic(), clock.now());
  }

  async run(mirror: ReplicaSink, signal: AbortSignal): Promise<void> {
    const { clock, random = Math.random, notify } = this.#options;
    let failures = 0;
    let restart = false;
    while (!signal.aborted) {
      const position = restart ? undefined : mirror.position;
      const { end, wasConnected } = await this.#connect(mirror, position, signal);
      this.#isConnected = false;
      if (signal.aborted) return;
      const sentence = `the leader ${describeLeaderEnd(end)}`;
      this.#health.noteDisconnected(sentence, clock.monotonic());
      restart = end.kind === "diverged";
      failures = wasConnected && !restart ? 0 : failures + 1;
      const waitMs = leaderWaitMs(end, failures, random);
      notify("warn", `${sentence}; connecting again in ${(waitMs / 1_000).toFixed(1)} s`);
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
  }

  /** Runs one connection. Resolves once everything it delivered is published or could not be. */
  async #connect(
    mirror: ReplicaSink,
    position: MirrorPosition | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly end: LeaderEnd; readonly wasConnected: boolean }> {
    const { clock, key } = this.#options;
    const disconnect = new AbortController();
    const goawayTimer = new AbortController();
    const stream = new LeaderStream(position);
    this.#silenceMs = FIRST_SILENCE_MS;
    let wasConnected = false;
    let helloCursor: Cursor | undefined;
    let published: Promise<unknown> = Promise.resolve();
    let failure: LeaderEnd | undefined;
    const publish = (work: Promise<void>) => {
      const caught = work.catch((error: unknown) => {
        const kind = error instanceof LogDivergence ? "diverged" : "not-stored";
        failure = { kind, reason: reasonOf(error) };
        disconnect.abort();
      });
      published = Promise.all([published, caught]);
    };
    const take = (message: LeaderMessage, characters: number): LeaderEnd | undefined => {
      if (message.type === "hello") helloCursor = message.cursor;
      if (!helloCursor) throw new ProtocolViolation("its first message is not a Flarewire hello");
      this.#note(message);
      if (message.type === "refused") return { kind: "incompatible", reason: message.reason };
      if (message.type === "goaway") this.#disconnectAfter(message.afterMs, goawayTimer, disconnect);
      const step = stream.take(message, characters);
      if (step.kind === "reset") publish(mirror.begin(step.cursor, step.base));
      if (step.kind === "reset" || step.kind === "resumed") {
        wasConnected = true;
        this.#connected(step.kind, stream.position);
      }
      if (step.kind === "batch") {
        publish(mirror.publish(step.batch));
        this.#batch(step.batch, helloCursor);
      }
      return undefined;
    };
    const onText = (text: string): LeaderEnd | undefined => {
      if (failure) return failure;
      this.#health.noteMessage(clock.monotonic());
      try {
        return take(readLeaderMessage(text), text.length);
      } catch (error) {
        if (error instanceof LogDivergence) return { kind: "diverged", reason: error.message };
        return { kind: "incompatible", reason: reasonOf(error) };
      }
    };
    const until = AbortSignal.any([signal, disconnect.signal]);
    const silenceMs = () => this.#silenceMs;
    const url = this.#streamUrl(position);
    const end = await followOnce({ url, key, clock, signal: until, onText, silenceMs });
    goawayTimer.abort();
    await published;
    if (failure) return { end: failure, wasConnected };
    return { end: disconnect.signal.aborted ? { kind: "moved" } : end, wasConnected };
  }

  #streamUrl(position: MirrorPosition | undefined): URL {
    const url = new URL(`${this.#options.url.replace(/^http/, "ws")}/api/v1/stream`);
    url.searchParams.set("channels", "*");
    url.searchParams.set("mirror", "true");
    url.searchParams.set("client", this.#clientId);
    if (position) url.searchParams.set("after", formatCursor(position.cursor));
    return url;
  }

  #disconnectAfter(afterMs: number, goawayTimer: AbortController, disconnect: AbortController): void {
    const delay = this.#options.clock.sleep(afterMs, goawayTimer.signal);
    delay.then(() => disconnect.abort()).catch(() => undefined);
  }

  #connected(kind: "reset" | "resumed", position: MirrorPosition | undefined): void {
    this.#isConnected = true;
    this.#health.noteConnected();
    const from = position ? ` at ${formatCursor(position.cursor)}` : "";
    const how = kind === "resumed" ? "continues" : "starts";
    this.#options.notify("info", `connected to the leader; mirroring ${how}${from}`);
  }

  #note(message: LeaderMessage): void {
    const nowMs = this.#options.clock.monotonic();
    if (message.type === "heartbeat") this.#health.noteReport(truncated(message.heartbeat.freshness), nowMs);
    if (message.type !== "hello") return;
    const { source, freshness, heartbeat_interval_ms, silence_limit_ms } = message.hello;
    const { minMs, maxMs } = SILENCE_BOUNDS;
    this.#info = { ...source, name: source.name.slice(0, 100) };
    this.#silenceMs = Math.min(maxMs, Math.max(minMs, silence_limit_ms));
    this.#health.noteReport(truncated(freshness), nowMs, Math.min(maxMs, Math.max(0, heartbeat_interval_ms)));
  }

  /** Counts events after the head in `hello` as live; earlier ones are backlog. */
  #batch({ events, observedAtMs }: LeaderBatch, helloCursor: Cursor): void {
    const nowMs = this.#options.clock.monotonic();
    for (const { seq, body } of events) {
      if (seq <= helloCursor.seq) continue;
      if (body.name === "source-status")
        this.#health.noteStatus(body.data.state, body.data.reason.slice(0, MAX_REASON), nowMs);
      else if (observedAtMs !== undefined) this.#health.noteBatch(body.observed_at, nowMs);
    }
  }
}

function truncated(freshness: Freshness): Freshness {
  const { reason, parts } = freshness;
  const shortParts = parts?.slice(0, MAX_PARTS).map((part) => ({
    ...part,
    name: part.name.slice(0, MAX_NAME),
    reason: part.reason.slice(0, MAX_REASON),
  }));
  return { ...freshness, reason: reason.slice(0, MAX_REASON), ...(shortParts ? { parts: shortParts } : {}) };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, MAX_REASON) : "unknown error";
}
