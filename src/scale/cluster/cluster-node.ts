import { randomBytes } from "node:crypto";
import type { Clock } from "../../base/lib/time/clock.ts";
import { waitAtMost } from "../../base/lib/time/wait-at-most.ts";
import type { Effect } from "./effect.ts";
import type { Engine, LogNews } from "./engine.ts";
import type { Entry, MemberStart } from "./entry.ts";
import { seal } from "./entry-text.ts";
import { Member, type MemberOptions } from "./member.ts";

/** The start of a term, or of a new epoch within it. */
export type Lead = Extract<Effect, { kind: "lead" }>;

/** Default of `id`: a random one; of `random`: `Math.random`. */
interface ClusterNodeOptions extends Partial<Pick<MemberOptions, "id" | "start" | "report" | "random">> {
  /** Receives committed entries, in order. An entry of kind `base` starts a new epoch. */
  readonly onDeliver: (entries: readonly Entry[]) => void;
  /** Called when this node starts to lead, and again at each new epoch of its term. */
  readonly onLead: (lead: Lead) => void;
  /** Called when this node stops leading, but not by {@link ClusterNode.close}. */
  readonly onFollow: () => void;
  /**
   * Called with the error at an entry that this node cannot read, each time that it tries, and with
   * `undefined` once it has read the log to its end again.
   */
  readonly onUnreadable: (error: unknown) => void;
  /**
   * Called when the log no longer continues what was delivered. Loads the stored state and returns
   * its position. If it returns `undefined` or rejects, it is called again after 12 s, if still
   * needed. Default: no state is stored.
   */
  readonly onReload?: () => Promise<MemberStart | undefined>;
  /** Called when this node appended an entry again, because the log's servers had lost it. */
  readonly onRepair?: (entry: Entry) => void;
  readonly engine: Engine;
  readonly clock: Clock;
}

/**
 * Rejection of {@link ClusterNode.append}: the node does not lead, or stopped leading or began a
 * new epoch before the batch was delivered.
 */
export class NotLeading extends Error {
  override readonly name = "NotLeading";
}

/** A batch that waits for its append or its delivery. */
interface Pending {
  readonly body: Buffer;
  /** Hash of the batch's entry, once its append has started. */
  hash?: string;
  readonly resolve: () => void;
  readonly reject: (error: NotLeading) => void;
}

const TICK_MS = 100;
/** Pause between the end of a read and the next read. */
const REREAD_MS = 100;
/** Pause before reading again at an entry that cannot be read. */
const UNREADABLE_MS = 1_000;
/** Pause before trying to load the stored state again: longer than any wait before an election. */
const RELOAD_MS = 12_000;
/** Maximum time that a stopping leader waits for its last entry. */
const LEAVE_MS = 1_000;
/** Pause after resigning before the node may try to lead again. */
const REST_MS = 10_000;

/** Connects a {@link Member} to the servers that store the shared log (see {@link Engine}). */
export class ClusterNode {
  readonly id: string;
  /** Whether this node has read the log to its end at least once. */
  hasCaughtUp = false;
  readonly #options: ClusterNodeOptions;
  readonly #member: Member;
  readonly #stopped = new AbortController();
  readonly #stopTicks: () => void;
  readonly #unsubscribe: () => void;
  #reader = new AbortController();
  #readFrom: number;
  #isReloading = false;
  #reloadAtMs = Number.NEGATIVE_INFINITY;
  #pending: Pending | undefined;
  #wantsEpoch = false;
  #answeredAtMs: number;
  #appended: Promise<void> = Promise.resolve();

  constructor(options: ClusterNodeOptions) {
    const { engine, clock, id = randomBytes(8).toString("base64url"), random = Math.random } = options;
    this.#options = options;
    this.id = id;
    this.#readFrom = Math.max(1, options.start?.position.offset ?? 1);
    this.#answeredAtMs = clock.monotonic();
    this.#member = new Member({
      ...options,
      id,
      random,
      newEpoch: () => randomBytes(8).toString("hex"),
      seal: (offset, header, body) =>
        seal(offset, { ...header, nonce: randomBytes(9).toString("base64url") }, body),
    });
    this.#unsubscribe = engine.onNotice((notice) => {
      if (notice.kind === "commit") this.#performAll(this.#member.committed(notice.position));
      if (notice.kind === "fork") this.#performAll(this.#member.forked(notice.epoch));
    });
    this.#stopTicks = clock.every(TICK_MS, () => this.#performAll(this.#member.tick(this.#nowMs)));
    void this.#read();
  }

  get member(): Pick<Member, "canAppend" | "role" | "term" | "delivered" | "isForked"> {
    return this.#member;
  }

  /**
   * Milliseconds since the engine last answered a read or an append; before the first answer, since
   * this node was created.
   */
  get engineSilenceMs(): number {
    return this.#nowMs - this.#answeredAtMs;
  }

  /**
   * Appends a batch. Resolves when this node has delivered it. If it rejects with
   * {@link NotLeading}, the batch may still be delivered. Wait for each append before the next.
   */
  append(body: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#pending) throw new Error("the previous batch is not delivered yet");
      this.#pending = { body, resolve, reject };
      if (this.#member.role === "leader" && !this.#stopped.signal.aborted) this.#submit();
      else this.abandon();
    });
  }

  /**
   * Starts a new epoch after any append in flight, if this node leads. Call it when the current
   * epoch cannot be continued.
   */
  renew(): void {
    this.#wantsEpoch = true;
    this.#submit();
  }

  /**
   * Tells the other nodes that this leader lives, before work that may keep it from doing so for a
   * while. Resolves when the entry is appended, or at once if another append is in flight.
   */
  async live(): Promise<void> {
    this.#performAll(this.#member.live(this.#nowMs));
    await this.#appended;
  }

  /**
   * Hands over, so that another node leads at once. Resolves when the handover is appended. This
   * node does not try to lead again for 10 s.
   */
  resign(): Promise<void> {
    return this.#leave(REST_MS);
  }

  /**
   * Leaves the cluster and closes the engine. A leader first tries for at most 1 s to hand over, so
   * that another node leads at once.
   */
  async stop(): Promise<void> {
    const { clock, engine } = this.#options;
    await waitAtMost(this.#leave(Number.POSITIVE_INFINITY), LEAVE_MS, clock, this.#stopped.signal).catch(
      () => {},
    );
    this.close();
    await engine.close();
  }

  /** Leaves the cluster without a handover, as if the process died. Does not close the engine. */
  close(): void {
    this.#stopped.abort();
    this.#reader.abort();
    this.#stopTicks();
    this.#unsubscribe();
    this.abandon();
  }

  get #nowMs(): number {
    return this.#options.clock.monotonic();
  }

  async #read(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.#reader = new AbortController();
      const own = this.#reader.signal;
      const pauseMs = await this.#readUntil(AbortSignal.any([own, signal]));
      if (!own.aborted) await clock.sleep(pauseMs, signal).catch(() => {});
      if (this.#isReloading) await this.#reload();
    }
  }

  /** Reads until the connection fails or a signal aborts. Returns how long to wait then. */
  async #readUntil(signal: AbortSignal): Promise<number> {
    const { engine, onUnreadable } = this.#options;
    try {
      for await (const news of engine.read(this.#readFrom, signal)) {
        if (signal.aborted) break;
        this.#take(news);
        if (news.kind === "idle") onUnreadable(undefined);
      }
      return REREAD_MS;
    } catch (error) {
      onUnreadable(error);
      return UNREADABLE_MS;
    }
  }

  #take(news: LogNews): void {
    this.#answeredAtMs = this.#nowMs;
    if (news.kind === "entry") {
      this.#readFrom = news.entry.offset + 1;
      this.#performAll(this.#member.entry(news.entry, this.#nowMs));
    } else {
      this.hasCaughtUp = true;
      // A server without replicas may have been promoted on the smaller side of a partition. No
      // candidate may append there: the leader on the other side has delivered other entries.
      if (news.isWritable) this.#performAll(this.#member.idle(news.head, this.#nowMs));
    }
  }

  /** Writes a handover, if this node leads. Resolves when it is appended. */
  async #leave(restMs: number): Promise<void> {
    const isBusy = () => this.#member.role === "leader" && !this.#member.canAppend;
    while (isBusy() && !this.#stopped.signal.aborted) await this.#appended;
    this.#performAll(this.#member.leave(this.#nowMs, restMs));
    await this.#appended;
  }

  async #reload(): Promise<void> {
    const start = await this.#options.onReload?.().catch(() => undefined);
    this.#isReloading = false;
    if (start) this.#performAll(this.#member.reloaded(start));
    else this.#reloadAtMs = this.#nowMs + RELOAD_MS;
  }

  #performAll(effects: readonly Effect[]): void {
    for (const effect of effects) if (!this.#stopped.signal.aborted) this.#perform(effect);
    if (effects.length > 0) this.#submit();
  }

  /**
   * Starts the requested epoch or appends the pending batch, if this node leads and no append is in
   * flight.
   */
  #submit(): void {
    if (!this.#member.canAppend) return;
    const pending = this.#pending;
    if (this.#wantsEpoch) {
      this.#wantsEpoch = false;
      this.#performAll(this.#member.renew());
    } else if (pending && pending.hash === undefined) {
      const effects = this.#member.batch(pending.body, this.#nowMs);
      for (const effect of effects) if (effect.kind === "append") pending.hash = effect.entry.hash;
      this.#performAll(effects);
    }
  }

  /** Rejects the pending append, whose batch may still be delivered, and cancels {@link renew}. */
  abandon(): void {
    this.#wantsEpoch = false;
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(new NotLeading("this node does not lead the cluster"));
  }

  #deliver(entries: readonly Entry[]): void {
    this.#options.onDeliver(entries);
    const pending = this.#pending;
    if (!pending || entries.every(({ hash }) => hash !== pending.hash)) return;
    this.#pending = undefined;
    pending.resolve();
  }

  #perform(effect: Effect): void {
    const { engine, onLead, onFollow } = this.#options;
    switch (effect.kind) {
      case "append":
        this.#appended = this.#append(effect.entry, effect.isRepair);
        return;
      case "commit":
      case "fork":
        engine.notify(effect);
        return;
      case "deliver":
        this.#deliver(effect.entries);
        return;
      case "reread":
        this.#readFrom = Math.max(1, effect.from.offset);
        this.#reader.abort();
        return;
      case "reload":
        this.#isReloading = this.#nowMs >= this.#reloadAtMs;
        if (this.#isReloading) this.#reader.abort();
        return;
      case "lead":
        onLead(effect);
        this.abandon();
        return;
      case "follow":
        onFollow();
        this.abandon();
        return;
    }
  }

  async #append(entry: Entry, isRepair: boolean): Promise<void> {
    try {
      const result = await this.#options.engine.append(entry, this.#stopped.signal);
      this.#answeredAtMs = this.#nowMs;
      if (isRepair && result.kind === "appended") this.#options.onRepair?.(entry);
      this.#performAll(this.#member.appended(result, this.#nowMs));
    } catch (error) {
      if (!this.#stopped.signal.aborted) throw error;
    }
  }
}
