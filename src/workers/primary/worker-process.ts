import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { assertNever } from "../../base/lib/assert-never.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { waitAtMost } from "../../base/lib/time/wait-at-most.ts";
import { type Cursor, FlarewireError } from "../../base/protocol/index.ts";
import type { MetricsJson } from "../../gateway/metrics/index.ts";
import type { Question, ToPrimary, ToWorker } from "../messages.ts";
import type { LogPublisher } from "./log-publisher.ts";

/**
 * A worker is stuck if it has not taken the connection handed to it within this many liveness
 * checks (seconds).
 */
const STUCK_TICKS = 2;

export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface WorkerProcessOptions {
  readonly worker: number;
  readonly clock: Clock;
  readonly child: ChildProcess;
  readonly start: ToWorker & { readonly type: "start" };
  readonly publisher: LogPublisher;
  /** Answers a worker's request. Throws or rejects with FlarewireError if it is refused. */
  readonly answer: (question: Question) => unknown;
  /** Called when the worker starts to take connections. */
  readonly onReady: () => void;
  /**
   * Called when a waiting connection may be handed over, for example because the worker has taken
   * the one handed to it before.
   */
  readonly onCapacity: () => void;
  /** Called if the worker ended before it took this connection, which is still unread. */
  readonly onReturned: (socket: Socket) => void;
  readonly onAlive: () => void;
  readonly onClaim: (client: string) => void;
  /** Called when a key made requests at the worker. */
  readonly onCounted: (keyId: string, requests: number) => void;
  readonly onEnd: (end: WorkerEnd) => void;
  readonly onError: (error: unknown) => void;
}

/** The primary's side of one worker process. */
export class WorkerProcess {
  readonly worker: number;
  /** It disconnects its clients, and takes connections only if no other worker can. */
  isLeaving = false;
  /** Open connections, as last reported, plus those handed over since. */
  connections = 0;
  /** Consecutive unanswered liveness checks. */
  silentTicks = 0;
  /** The worker's last metrics. */
  metrics: MetricsJson | undefined;
  readonly #options: WorkerProcessOptions;
  readonly #measures = new Map<number, (metrics: MetricsJson | undefined) => void>();
  #unfollow: () => void = () => {};
  #measureId = 0;
  #isReady = false;
  #isOver = false;
  /** A connection handed over and not yet taken. */
  #untaken: Socket | undefined;
  /** Liveness checks since the hand-over. */
  #untakenTicks = 0;
  #cursor: Cursor | undefined;
  #hasSnapshot = false;

  constructor(options: WorkerProcessOptions) {
    const { child } = options;
    this.worker = options.worker;
    this.#options = options;
    child.on("message", (message) => this.#receive(message as ToPrimary));
    child.on("error", options.onError);
    child.once("exit", (code, signal) => this.#ended({ code, signal }));
    // All messages arrive before this event: a connection not reported as taken is unread. Node
    // emits no "disconnect" while the worker has not yet confirmed a handle.
    child.once("close", () => this.#returnConnection());
    // A process that could not be spawned emits no exit.
    child.once("error", () => child.pid === undefined && this.#ended({ code: null, signal: null }));
    this.#start().catch(options.onError);
  }

  get pid(): number | undefined {
    return this.#options.child.pid;
  }

  /** Whether it takes connections, though perhaps not at this moment. */
  get isReady(): boolean {
    return this.#isReady && !this.#isOver;
  }

  /** Whether it can take a connection now. */
  get canTake(): boolean {
    return this.isReady && !this.#untaken;
  }

  /**
   * Whether it has not taken its last connection for too long. If so, waiting connections go to
   * other workers instead of waiting for this one.
   */
  get isStuck(): boolean {
    return this.#untakenTicks >= STUCK_TICKS;
  }

  /** Whether the worker serves the state at this cursor or a later one. */
  serves({ epoch, seq }: Cursor): boolean {
    return this.#hasSnapshot && this.#cursor?.epoch === epoch && this.#cursor.seq >= seq;
  }

  send(message: ToWorker): void {
    // If the channel is broken, the exit event follows.
    if (this.#options.child.connected) this.#options.child.send(message, () => {});
  }

  /** Hands over a connection, which stays open here until taken. False if the worker is gone. */
  handOver(socket: Socket): boolean {
    const { child } = this.#options;
    if (!child.connected) return false;
    this.#untaken = socket;
    this.#untakenTicks = 0;
    this.connections += 1;
    child.send({ type: "connection" } satisfies ToWorker, socket, { keepOpen: true }, () => {});
    return true;
  }

  tick(report: ToWorker & { readonly type: "source" }): void {
    if (this.#untaken) this.#untakenTicks += 1;
    this.silentTicks += 1;
    this.send(report);
  }

  /**
   * Returns the worker's metrics, or the previous ones if it takes longer than `waitMs`, is not
   * ready or has ended.
   */
  async measure(waitMs: number): Promise<MetricsJson | undefined> {
    if (!this.isReady) return this.metrics;
    const id = ++this.#measureId;
    const answered = new Promise<MetricsJson | undefined>((resolve) => this.#measures.set(id, resolve));
    this.send({ type: "measure", id });
    this.metrics = (await waitAtMost(answered, waitMs, this.#options.clock)) ?? this.metrics;
    this.#measures.delete(id);
    return this.metrics;
  }

  kill(): void {
    this.#options.child.kill("SIGKILL");
  }

  async #start(): Promise<void> {
    const { publisher, start } = this.#options;
    this.send(start);
    // Changes during the snapshot wait here and are sent after it.
    const behind: ToWorker[] = [];
    let isComplete = false;
    const { snapshot, stop } = publisher.follow((message) => {
      if (isComplete) this.send(message);
      else behind.push(message);
    });
    this.#unfollow = stop;
    for await (const message of snapshot) {
      if (this.#isOver) return;
      await this.#sent(message);
    }
    isComplete = true;
    for (const message of behind) this.send(message);
  }

  /** Sends a message and waits until the system takes it, so that the log does not pile up here. */
  #sent(message: ToWorker): Promise<void> {
    const { child } = this.#options;
    return new Promise((resolve) => {
      if (child.connected) child.send(message, () => resolve());
      else resolve();
    });
  }

  #receive(message: ToPrimary): void {
    switch (message.type) {
      case "ready":
        this.#isReady = true;
        this.#options.onReady();
        break;
      case "leaving":
        this.isLeaving = true;
        this.#options.onCapacity();
        break;
      case "taken":
        // The worker's own handle stays open.
        this.#untaken?.destroy();
        this.#untaken = undefined;
        this.#untakenTicks = 0;
        this.#options.onCapacity();
        break;
      case "alive":
        this.silentTicks = 0;
        this.connections = message.connections + (this.#untaken ? 1 : 0);
        this.#cursor = message.cursor;
        this.#hasSnapshot = message.hasSnapshot;
        this.#options.onAlive();
        break;
      case "ask":
        this.#answer(message.id, message.question).catch(this.#options.onError);
        break;
      case "claim":
        this.#options.onClaim(message.client);
        break;
      case "counted":
        this.#options.onCounted(message.keyId, message.requests);
        break;
      case "measured":
        this.#measures.get(message.id)?.(message.metrics as MetricsJson);
        break;
      default:
        assertNever(message);
    }
  }

  async #answer(id: number, question: Question): Promise<void> {
    try {
      const value = await this.#options.answer(question);
      this.send({ type: "answer", id, answer: { value } });
    } catch (error) {
      if (!(error instanceof FlarewireError)) this.#options.onError(error);
      const fault = new FlarewireError("internal", "the primary process failed");
      const { code, message, bound } = error instanceof FlarewireError ? error : fault;
      this.send({ type: "answer", id, answer: { error: { code, message, bound } } });
    }
  }

  #returnConnection(): void {
    const socket = this.#untaken;
    this.#untaken = undefined;
    if (socket) this.#options.onReturned(socket);
  }

  #ended(end: WorkerEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unfollow();
    for (const resolve of this.#measures.values()) resolve(undefined);
    this.#options.onEnd(end);
  }
}
