import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import type { Clock } from "../../lib/time/clock.ts";
import { type Cursor, FlarewireError } from "../../protocol/index.ts";
import { quickEnds, TOLD_FROM, workerWaitMs } from "../back-off.ts";
import type { SourceNews, ToWorker } from "../messages.ts";
import type { PrimaryServices } from "../process/worker-connections.ts";
import { type WorkerEnd, WorkerProcess } from "../process/worker-process.ts";
import type { LogPublisher } from "./log-publisher.ts";

/** What a crew is made of. */
export interface CrewOptions {
  readonly workers: number;
  /** Begins a worker's process, with a line to it. */
  readonly spawn: (worker: number) => ChildProcess;
  /** What each is told first. */
  readonly start: (worker: number) => ToWorker & { readonly type: "start" };
  readonly feed: LogPublisher;
  readonly whole: PrimaryServices;
  readonly news: () => SourceNews;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Somebody has room for a connection. */
  readonly onRoom: () => void;
  /** A worker is gone that was to take this connection, and has not. */
  readonly onLeftOver: (socket: Socket) => void;
  /** A key made so many requests at one of them; the others are told. */
  readonly onCounted: (keyId: string, requests: number) => void;
  /** The last that was heard of the numbers of a worker that is gone. */
  readonly onGone: (worker: WorkerProcess) => void;
}

/** How often each is asked for a sign of life, and how often in vain before it is ended. */
const TICK_MS = 1_000;
const MAX_SILENT = 30;
/** What those that were told to end may take beyond the drain. */
const END_GRACE_MS = 5_000;

/** The place of one worker: who is in it, and what became of those before. */
interface WorkerSlot {
  readonly worker: number;
  process: WorkerProcess | undefined;
  beganAtMs: number;
  quickEnds: number;
}

/** Keeps as many workers at work as there should be: one that ends is replaced, later each time where it ended soon after its beginning. */
export class WorkerPool {
  readonly #options: CrewOptions;
  readonly #posts: readonly WorkerSlot[];
  readonly #over = new AbortController();
  readonly #kill = () => this.#killAll();
  #stopTicking: () => void = () => {};
  #ended = 0;
  /** A worker ended before all had begun. */
  #failStart: ((error: Error) => void) | undefined;
  /** Who waits for a change. */
  readonly #waiters = new Set<() => void>();

  constructor(options: CrewOptions) {
    this.#options = options;
    this.#posts = Array.from({ length: options.workers }, (_, at) => ({
      worker: at + 1,
      process: undefined,
      beganAtMs: 0,
      quickEnds: 0,
    }));
  }

  /** Those that are there, ready or not. */
  get processes(): readonly WorkerProcess[] {
    return this.#posts.flatMap(({ process }) => process ?? []);
  }

  /** How many serve, and how many ended without being told to. */
  get counts(): { readonly serving: number; readonly ended: number } {
    return { serving: this.processes.filter(({ isReady }) => isReady).length, ended: this.#ended };
  }

  /** What clients should know; `undefined` while all is well. */
  get trouble(): string | undefined {
    const failing = this.#posts.filter((post) => post.quickEnds >= TOLD_FROM);
    if (failing.length === 0) return undefined;
    return `${failing.length} of ${this.#posts.length} workers end again and again`;
  }

  /** Resolves when all take connections; rejects when one of them ends before: what keeps it from working would keep the next one too. */
  async start(): Promise<void> {
    const { clock } = this.#options;
    const failed = new Promise<never>((_, reject) => {
      this.#failStart = reject;
    });
    this.#stopTicking = clock.every(TICK_MS, () => this.#tick());
    for (const post of this.#posts) this.#begin(post);
    try {
      await Promise.race([failed, this.#until(() => this.counts.serving === this.#posts.length)]);
    } catch (error) {
      await this.#end();
      throw error;
    } finally {
      this.#failStart = undefined;
    }
  }

  /** Resolves when each that is there serves the state at the cursor, or after `waitMs`. */
  async caughtUp(cursor: Cursor, waitMs: number): Promise<void> {
    const late = new AbortController();
    const patience = this.#options.clock.sleep(waitMs, late.signal).catch(() => undefined);
    await Promise.race([patience, this.#until(() => this.processes.every((one) => one.serves(cursor)))]);
    late.abort();
  }

  /** Sends to all. */
  tell(message: ToWorker, but?: WorkerProcess): void {
    for (const one of this.processes) if (one !== but) one.send(message);
  }

  /** Lets all send their clients away, which takes `drainMs`, and end; resolves when the last is gone. */
  async drain(drainMs: number): Promise<void> {
    this.#over.abort();
    // Whoever ends this process now wants an end at once: nobody is to be left behind.
    process.once("exit", this.#kill);
    this.tell({ type: "drain" });
    const late = new AbortController();
    this.#options.clock.sleep(drainMs + END_GRACE_MS, late.signal).then(
      () => {
        const left = this.processes.map(({ worker }) => worker);
        this.#options.logger.warn({ workers: left }, "workers that do not end by themselves are ended");
        this.#killAll();
      },
      () => undefined,
    );
    await this.#until(() => this.processes.length === 0);
    late.abort();
    process.off("exit", this.#kill);
    this.#stopTicking();
  }

  #begin(post: WorkerSlot): void {
    const { clock, feed, whole, logger, spawn, start } = this.#options;
    const { worker } = post;
    post.beganAtMs = clock.monotonic();
    const process: WorkerProcess = new WorkerProcess({
      ...{ worker, clock, feed, whole },
      child: spawn(worker),
      start: start(worker),
      onReady: () => {
        logger.info({ worker, workerPid: process.pid }, "a worker takes connections");
        this.#changed();
      },
      onRoom: () => this.#options.onRoom(),
      onLeftOver: (socket) => this.#options.onLeftOver(socket),
      onCounted: (keyId, requests) => {
        this.#options.onCounted(keyId, requests);
        this.tell({ type: "counted", keyId, requests }, process);
      },
      onHeard: () => this.#wake(),
      onEnd: (end) => this.#lost(post, process, end),
      onError: (error) => logger.error({ err: error, worker }, "the line to a worker failed"),
    });
    post.process = process;
  }

  #lost(post: WorkerSlot, process: WorkerProcess, { code, signal }: WorkerEnd): void {
    const { clock, logger, onGone } = this.#options;
    const { worker } = post;
    const { pid } = process;
    const livedMs = clock.monotonic() - post.beganAtMs;
    post.process = undefined;
    onGone(process);
    this.#changed();
    if (this.#over.signal.aborted) return;
    // One that was told to go went in order: another takes its place, and that is all.
    const isOrderly = code === 0;
    if (this.#failStart && !isOrderly) {
      const how = signal ?? `exit code ${code}`;
      this.#failStart(new FlarewireError("internal", `worker ${worker} ended in its start (${how})`));
      return;
    }
    post.quickEnds = isOrderly ? 0 : quickEnds(post.quickEnds, livedMs);
    if (!isOrderly) this.#ended += 1;
    const waitMs = workerWaitMs(post.quickEnds);
    const facts = { worker, workerPid: pid, code, signal, livedMs: Math.round(livedMs), againInMs: waitMs };
    if (isOrderly) logger.info(facts, "a worker ended in order; another takes its place");
    else logger.error(facts, "a worker ended; its clients resume at the others, and another takes its place");
    clock
      .sleep(waitMs, this.#over.signal)
      .then(() => this.#begin(post))
      .catch(() => undefined);
  }

  #tick(): void {
    const { logger, clock, news } = this.#options;
    const message = { type: "news", news: news() } as const;
    for (const post of this.#posts) {
      const { process, worker } = post;
      if (!process) continue;
      process.tick(message);
      if (clock.monotonic() - post.beganAtMs >= 30_000) post.quickEnds = 0;
      // Counted, not timed: a machine that slept would end them all.
      if (process.silentTicks <= MAX_SILENT) continue;
      logger.error({ worker, workerPid: process.pid }, `a worker gave no sign of life for ${MAX_SILENT} s`);
      process.kill();
    }
  }

  async #end(): Promise<void> {
    this.#over.abort();
    this.#stopTicking();
    this.#killAll();
    await this.#until(() => this.processes.length === 0);
  }

  #killAll(): void {
    for (const one of this.processes) one.kill();
  }

  #changed(): void {
    this.#wake();
    this.#options.onRoom();
  }

  #wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const wake of waiters) wake();
  }

  /** Looks again whenever something is heard of a worker. */
  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiters.add(resolve));
  }
}
