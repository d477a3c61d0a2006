import type { ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import type { Logger } from "pino";
import { whenAborted } from "../../base/lib/time/until-aborted.ts";
import { waitAtMost } from "../../base/lib/time/wait-at-most.ts";
import { type Cursor, FlarewireError } from "../../base/protocol/index.ts";
import type { SourceReport, ToWorker } from "../messages.ts";
import { quickEnds, REPORTED_FROM, WORKER_WAIT, workerWaitMs } from "./back-off.ts";
import { type WorkerEnd, WorkerProcess, type WorkerProcessOptions } from "./worker-process.ts";

export interface WorkerPoolOptions
  extends Pick<
    WorkerProcessOptions,
    "publisher" | "answer" | "clock" | "onCapacity" | "onReturned" | "onCounted"
  > {
  readonly workers: number;
  readonly spawn: (worker: number) => ChildProcess;
  /** Returns the first message for each worker. */
  readonly start: (worker: number) => ToWorker & { readonly type: "start" };
  readonly report: () => SourceReport;
  readonly logger: Logger;
  /** Ends the wait for workers that are slow to start. */
  readonly signal?: AbortSignal | undefined;
  /** Called after a worker has ended. Its last metrics are still there. */
  readonly onGone: (worker: WorkerProcess) => void;
}

/** Interval of liveness checks. */
const TICK_MS = 1_000;
/** Consecutive liveness checks that a worker may leave unanswered before it is killed. */
const MAX_SILENT = 30;
/** The same for a worker that starts: on a busy machine, its program may load for minutes. */
const MAX_SILENT_START = 300;
/** Interval of reports on a slow start, in liveness checks. */
const SLOW_START_TICKS = 30;
/** Extra time after the drain before workers that have not ended are killed. */
const END_GRACE_MS = 5_000;

interface WorkerSlot {
  readonly worker: number;
  process: WorkerProcess | undefined;
  beganAtMs: number;
  /** Liveness checks of this process before it took connections. */
  startTicks: number;
  quickEnds: number;
}

/** Runs the workers, and replaces those that end: after a pause if they crashed early. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #slots: readonly WorkerSlot[];
  readonly #over = new AbortController();
  readonly #kill = () => this.#killAll();
  #stopTicking: () => void = () => {};
  #ended = 0;
  /** Rejects the start when a worker crashes before all are ready. */
  #failStart: ((error: Error) => void) | undefined;
  /** Emits `report` whenever a worker reports something. */
  readonly #reports = new EventEmitter();

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.workers }, (_, index) => ({
      worker: index + 1,
      process: undefined,
      beganAtMs: 0,
      startTicks: 0,
      quickEnds: 0,
    }));
  }

  get processes(): readonly WorkerProcess[] {
    return this.#slots.flatMap(({ process }) => process ?? []);
  }

  /** How many workers take connections, and how many have crashed. */
  get counts(): { readonly serving: number; readonly ended: number } {
    return { serving: this.processes.filter(({ isReady }) => isReady).length, ended: this.#ended };
  }

  /** Public description of repeated crashes; `undefined` if there are none. */
  get trouble(): string | undefined {
    const failing = this.#slots.filter((slot) => slot.quickEnds >= REPORTED_FROM);
    if (failing.length === 0) return undefined;
    return `${failing.length} of ${this.#slots.length} workers crash repeatedly`;
  }

  /**
   * Resolves when all workers take connections, or the signal aborts. If a worker crashes before
   * that, kills all and rejects.
   */
  async start(): Promise<void> {
    const { clock, signal } = this.#options;
    const failed = new Promise<never>((_, reject) => {
      this.#failStart = reject;
    });
    this.#stopTicking = clock.every(TICK_MS, () => this.#tick());
    for (const slot of this.#slots) this.#begin(slot);
    try {
      const serving = this.#until(() => this.counts.serving === this.#slots.length);
      await Promise.race([failed, serving, ...(signal ? [whenAborted(signal)] : [])]);
    } catch (error) {
      await this.#abort();
      throw error;
    } finally {
      this.#failStart = undefined;
    }
  }

  /** Resolves when each current worker serves the state at the cursor, or after `waitMs`. */
  async caughtUp(cursor: Cursor, waitMs: number): Promise<void> {
    const served = this.#until(() => this.processes.every((one) => one.serves(cursor)));
    await waitAtMost(served, waitMs, this.#options.clock);
  }

  broadcast(message: ToWorker, except?: WorkerProcess): void {
    for (const one of this.processes) if (one !== except) one.send(message);
  }

  /**
   * Stops all workers, which disconnect clients within `drainMs`. Kills those that take 5 s longer.
   * Resolves when all have ended.
   */
  async drain(drainMs: number): Promise<void> {
    const { clock, logger } = this.#options;
    this.#over.abort();
    // If this process is forced to exit, its workers must not outlive it.
    process.once("exit", this.#kill);
    this.broadcast({ type: "drain" });
    const ended = this.#until(() => this.processes.length === 0);
    await waitAtMost(ended, drainMs + END_GRACE_MS, clock);
    const left = this.processes.map(({ worker }) => worker);
    if (left.length > 0) logger.warn({ workers: left }, "killing workers that did not stop in time");
    this.#killAll();
    await ended;
    process.off("exit", this.#kill);
    this.#stopTicking();
  }

  #begin(slot: WorkerSlot): void {
    const { clock, logger, spawn, start } = this.#options;
    const { worker } = slot;
    slot.beganAtMs = clock.monotonic();
    slot.startTicks = 0;
    const process: WorkerProcess = new WorkerProcess({
      ...this.#options,
      worker,
      child: spawn(worker),
      start: start(worker),
      onReady: () => {
        logger.info({ worker, workerPid: process.pid }, "worker takes connections");
        this.#changed();
      },
      // All workers, including the sender, get claims in the same order: see RemoteState.claimed.
      onClaim: (client) => {
        for (const one of this.processes) one.send({ type: "claimed", client, isOwn: one === process });
      },
      onCounted: (keyId, requests) => {
        this.#options.onCounted(keyId, requests);
        this.broadcast({ type: "counted", keyId, requests }, process);
      },
      onAlive: () => this.#reports.emit("report"),
      onEnd: (end) => this.#lost(slot, process, end),
      onError: (error) => logger.error({ err: error, worker }, "channel to a worker failed"),
    });
    slot.process = process;
  }

  #lost(slot: WorkerSlot, process: WorkerProcess, { code, signal }: WorkerEnd): void {
    const { clock, logger, onGone } = this.#options;
    const { worker } = slot;
    const { pid } = process;
    const livedMs = clock.monotonic() - slot.beganAtMs;
    slot.process = undefined;
    onGone(process);
    this.#changed();
    if (this.#over.signal.aborted) return;
    // A worker that a signal stopped ends with 0. It is replaced too.
    const isOrderly = code === 0;
    if (this.#failStart && !isOrderly) {
      const how = signal ?? `exit code ${code}`;
      this.#failStart(new FlarewireError("internal", `worker ${worker} ended during its start (${how})`));
      return;
    }
    slot.quickEnds = isOrderly ? 0 : quickEnds(slot.quickEnds, livedMs);
    if (!isOrderly) this.#ended += 1;
    const waitMs = workerWaitMs(slot.quickEnds);
    const facts = { worker, workerPid: pid, code, signal, livedMs: Math.round(livedMs), againInMs: waitMs };
    if (isOrderly) logger.info(facts, "worker stopped; starting a replacement");
    else logger.error(facts, "worker crashed; its clients resume at the others; starting a replacement");
    clock
      .sleep(waitMs, this.#over.signal)
      .then(() => this.#begin(slot))
      .catch(() => undefined);
  }

  #tick(): void {
    const { logger, clock, report } = this.#options;
    const message = { type: "source", report: report() } as const;
    for (const slot of this.#slots) {
      const { process, worker } = slot;
      if (!process) continue;
      process.tick(message);
      if (clock.monotonic() - slot.beganAtMs >= WORKER_WAIT.soundAfterMs) slot.quickEnds = 0;
      // Failed checks are counted, not timed: after a suspend, a deadline would kill all workers.
      const maxSilent = process.isReady ? MAX_SILENT : MAX_SILENT_START;
      if (!process.isReady) this.#noteStart(slot);
      if (process.silentTicks <= maxSilent) continue;
      logger.error(
        { worker, workerPid: process.pid },
        `killing a worker that has not answered for ${maxSilent} s`,
      );
      process.kill();
    }
  }

  #noteStart(slot: WorkerSlot): void {
    const { worker, process } = slot;
    slot.startTicks += 1;
    if (slot.startTicks % SLOW_START_TICKS !== 0) return;
    const facts = { worker, workerPid: process?.pid, startingS: slot.startTicks };
    this.#options.logger.warn(facts, "waiting for a worker that is slow to start");
  }

  async #abort(): Promise<void> {
    this.#over.abort();
    this.#stopTicking();
    this.#killAll();
    await this.#until(() => this.processes.length === 0);
  }

  #killAll(): void {
    for (const one of this.processes) one.kill();
  }

  #changed(): void {
    this.#reports.emit("report");
    this.#options.onCapacity();
  }

  /** Waits for a condition, checking it whenever a worker reports something. */
  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await once(this.#reports, "report");
  }
}
