import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { assertNever } from "../../lib/assert-never.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { MetricsJson } from "../../metrics/index.ts";
import { type Cursor, FlarewireError } from "../../protocol/index.ts";
import type { Question, ToPrimary, ToWorker } from "../messages.ts";
import type { LogPublisher } from "../primary/log-publisher.ts";
import { type PrimaryServices, WorkerWires } from "./worker-connections.ts";

/** Asked for a sign of life so often, a second apart, since it was handed a connection, it is stuck: the others are not to wait for it. */
const STUCK_TICKS = 2;

/** How a worker's process ended. */
export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What a worker's process is run with. */
export interface WorkerProcessOptions {
  /** 1 for the first. */
  readonly worker: number;
  readonly clock: Clock;
  readonly child: ChildProcess;
  readonly start: ToWorker & { readonly type: "start" };
  readonly feed: LogPublisher;
  readonly whole: PrimaryServices;
  /** It can take connections from now on. */
  readonly onReady: () => void;
  /** It can take another connection. */
  readonly onRoom: () => void;
  /** It is gone, and had not taken this connection, of which nobody has read anything. */
  readonly onLeftOver: (socket: Socket) => void;
  /** Something was heard of it. */
  readonly onHeard: () => void;
  /** A key made so many requests there. */
  readonly onCounted: (keyId: string, requests: number) => void;
  /** The process is gone. */
  readonly onEnd: (end: WorkerEnd) => void;
  readonly onError: (error: unknown) => void;
}

/** The primary's side of one worker, from its birth to its end. */
export class WorkerProcess {
  readonly worker: number;
  readonly #options: WorkerProcessOptions;
  readonly #wires: WorkerWires;
  readonly #measures = new Map<number, (metrics: MetricsJson | undefined) => void>();
  #stopFeed: () => void = () => {};
  #measureId = 0;
  #isReady = false;
  #isLeaving = false;
  #isOver = false;
  /** A connection that is on its way, and not yet in the worker's hands. */
  #handing: Socket | undefined;
  /** Signs of life that were asked for since. */
  #handingTicks = 0;
  #connections = 0;
  #cursor: Cursor | undefined;
  #hasSnapshot = false;
  #silentTicks = 0;
  /** Its numbers as they were heard last. */
  metrics: MetricsJson | undefined;

  constructor(options: WorkerProcessOptions) {
    const { child } = options;
    this.worker = options.worker;
    this.#options = options;
    this.#wires = new WorkerWires(options.whole, (message) => this.send(message));
    child.on("message", (message) => this.#take(message as ToPrimary));
    child.on("error", options.onError);
    child.once("exit", (code, signal) => this.#ended({ code, signal }));
    // Behind all that it said: what it did not say that it took it has not read.
    child.once("disconnect", () => this.#leave());
    // A process that could not be made has no end.
    child.once("error", () => child.pid === undefined && this.#ended({ code: null, signal: null }));
    this.#start().catch(options.onError);
  }

  get pid(): number | undefined {
    return this.#options.child.pid;
  }

  /** It takes connections. */
  get isReady(): boolean {
    return this.#isReady && !this.#isOver;
  }

  /** See ReceiverState. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** It takes one now. */
  get hasRoom(): boolean {
    return this.isReady && !this.#handing;
  }

  /** See ReceiverState. */
  get isStuck(): boolean {
    return this.#handingTicks >= STUCK_TICKS;
  }

  /** Open connections: those that it counted, and those that it was given since. */
  get connections(): number {
    return this.#connections;
  }

  /** Looks for it that have come to nothing, one after the other. */
  get silentTicks(): number {
    return this.#silentTicks;
  }

  /** It serves the state at this cursor, or one behind it. */
  serves({ epoch, seq }: Cursor): boolean {
    return this.#hasSnapshot && this.#cursor?.epoch === epoch && this.#cursor.seq >= seq;
  }

  send(message: ToWorker): void {
    // Of one whose line is cut the end is on its way.
    if (this.#options.child.connected) this.#options.child.send(message, () => {});
  }

  /** Hands a connection over; false where the worker is gone, and the connection still here. It stays open here too until the worker says that it has it. */
  hand(socket: Socket): boolean {
    const { child } = this.#options;
    if (!child.connected) return false;
    this.#handing = socket;
    this.#handingTicks = 0;
    this.#connections += 1;
    child.send({ type: "connection" } satisfies ToWorker, socket, { keepOpen: true }, () => {});
    return true;
  }

  /** Asks for a sign of life. */
  tick(news: ToWorker & { readonly type: "news" }): void {
    if (this.#handing) this.#handingTicks += 1;
    this.#silentTicks += 1;
    this.send(news);
  }

  /** Its numbers now; those of before where it does not say within `waitMs`. */
  async measure(waitMs: number): Promise<MetricsJson | undefined> {
    if (!this.isReady) return this.metrics;
    const id = ++this.#measureId;
    const answered = new Promise<MetricsJson | undefined>((resolve) => this.#measures.set(id, resolve));
    this.send({ type: "measure", id });
    const over = new AbortController();
    this.#options.clock.sleep(waitMs, over.signal).then(
      () => this.#measured(id, this.metrics),
      () => undefined,
    );
    this.metrics = await answered;
    over.abort();
    return this.metrics;
  }

  kill(): void {
    this.#options.child.kill("SIGKILL");
  }

  async #start(): Promise<void> {
    const { feed, start } = this.#options;
    this.send(start);
    // What happens while it is filled waits here: it comes behind.
    const behind: ToWorker[] = [];
    let isFilled = false;
    const { fill, stop } = feed.follow((message) => {
      if (isFilled) this.send(message);
      else behind.push(message);
    });
    this.#stopFeed = stop;
    for await (const message of fill) {
      if (this.#isOver) return;
      await this.#sent(message);
    }
    isFilled = true;
    for (const message of behind) this.send(message);
  }

  /** Resolves when the system has taken it: a whole log is not piled up in this process. */
  #sent(message: ToWorker): Promise<void> {
    const { child } = this.#options;
    return new Promise((resolve) => {
      if (child.connected) child.send(message, () => resolve());
      else resolve();
    });
  }

  #take(message: ToPrimary): void {
    switch (message.type) {
      case "ready":
        this.#isReady = true;
        this.#options.onReady();
        break;
      case "leaving":
        this.#isLeaving = true;
        this.#options.onRoom();
        break;
      case "taken":
        // The worker's own stays open.
        this.#handing?.destroy();
        this.#handing = undefined;
        this.#handingTicks = 0;
        this.#options.onRoom();
        break;
      case "alive":
        this.#silentTicks = 0;
        this.#connections = message.connections + (this.#handing ? 1 : 0);
        this.#cursor = message.cursor;
        this.#hasSnapshot = message.hasSnapshot;
        this.#options.onHeard();
        break;
      case "ask":
        this.#answer(message.id, message.question).catch(this.#options.onError);
        break;
      case "left":
        this.#wires.left(message.place);
        break;
      case "counted":
        this.#options.onCounted(message.keyId, message.requests);
        break;
      case "measured":
        this.#measured(message.id, message.metrics as MetricsJson);
        break;
      default:
        assertNever(message);
    }
  }

  async #answer(id: number, question: Question): Promise<void> {
    try {
      const value = await this.#wires.answer(question);
      // It died while that was decided.
      if (this.#isOver) this.#wires.leaveAll();
      this.send({ type: "answer", id, answer: { value } });
    } catch (error) {
      if (!(error instanceof FlarewireError)) this.#options.onError(error);
      const fault = new FlarewireError("internal", "the process that has the source failed");
      const { code, message, bound } = error instanceof FlarewireError ? error : fault;
      const told = { code, message, ...(bound === undefined ? {} : { bound }) };
      this.send({ type: "answer", id, answer: { error: told } });
    }
  }

  #measured(id: number, metrics: MetricsJson | undefined): void {
    this.#measures.get(id)?.(metrics);
    this.#measures.delete(id);
  }

  #leave(): void {
    const socket = this.#handing;
    this.#handing = undefined;
    if (socket) this.#options.onLeftOver(socket);
  }

  #ended(end: WorkerEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.#options.child.connected) this.#leave();
    this.#stopFeed();
    this.#wires.leaveAll();
    for (const id of [...this.#measures.keys()]) this.#measured(id, this.metrics);
    this.#options.onEnd(end);
  }
}
