import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { assertNever } from "../lib/assert-never.ts";
import { EXIT, watchShutdown } from "../lib/io/shutdown.ts";
import { systemClock } from "../lib/time/clock.ts";
import type { LogRecord } from "../log/index.ts";
import {
  InjectedConnections,
  PrimaryFollower,
  PrimaryLink,
  RemoteKeys,
  RemotePlaces,
  type ToWorker,
} from "../workers/index.ts";
import { runGateway } from "./app.ts";
import { createLogger } from "./create-logger.ts";
import { createBoundedServer, type Frontend, type FrontOptions } from "./frontend.ts";
import type { Keys } from "./open/open-keys.ts";
import { createFilledKept, type Filling } from "./persistence/replica-store.ts";
import { readPlace } from "./persistence/restored-state.ts";

/*
 * A worker's process: serves what its primary has, on the connections that the primary hands over. It begins when the primary has told it what to
 * serve, and ends when it is told to, or when the primary is gone.
 */

/** What a worker whose primary is gone may take to tell its clients. */
const ORPHAN_MS = 4_000;

type Start = ToWorker & { readonly type: "start" };

class Worker {
  readonly #link: PrimaryLink;
  readonly #records: LogRecord[] = [];
  readonly #places: { readonly seq: number; readonly bytes: Uint8Array }[] = [];
  #start: Start | undefined;
  #logger: Logger = createLogger("info");
  #leader: PrimaryFollower | undefined;
  #keys: RemoteKeys | undefined;
  #remotePlaces: RemotePlaces | undefined;
  #front: Frontend | undefined;
  #stop: (() => Promise<void>) | undefined;
  #isStopping = false;
  #measure: (() => Promise<unknown>) | undefined;
  #tellAlive = () =>
    this.#link.send({ type: "alive", cursor: undefined, hasSnapshot: false, connections: 0 });

  constructor() {
    this.#link = new PrimaryLink(process, (message) => this.#take(message));
    process.once("disconnect", () => this.#orphaned());
    // Whoever stops the group of processes, as a terminal and service managers do, stops the primary too; who stops this one only gets another in its place.
    void watchShutdown(process).requested.then((cause) => {
      // The line to the primary says so, too, and says it first.
      if (cause === "parent ended") return;
      this.#link.send({ type: "leaving" });
      this.#end();
    });
    const crash = (error: unknown) => {
      this.#logger.fatal({ err: error }, "a fault of the program");
      process.exit(EXIT.retry);
    };
    process.on("uncaughtException", crash).on("unhandledRejection", crash);
  }

  #take(message: Exclude<ToWorker, { type: "batch" | "begin" | "connection" | "answer" }>): void {
    switch (message.type) {
      case "start":
        this.#begin(message);
        break;
      case "records":
        this.#records.push(...message.records);
        break;
      case "place":
        this.#places.push(message);
        break;
      case "filled":
        if (this.#start && this.#keys)
          void this.#run(this.#start, this.#keys, {
            records: this.#records,
            places: this.#places,
            end: message.end,
          });
        break;
      case "news":
        this.#leader?.tell(message.news);
        this.#tellAlive();
        break;
      case "end":
        this.#remotePlaces?.end(message.place, message.reason);
        break;
      case "cut":
        this.#remotePlaces?.cut(message.place);
        break;
      case "keys":
        this.#keys?.replace(message.keys);
        break;
      case "ended":
        this.#keys?.end(message);
        break;
      case "counted":
        this.#keys?.countElsewhere(message.keyId, message.requests);
        break;
      case "measure":
        void this.#tellMetrics(message.id);
        break;
      case "drain":
        this.#end();
        break;
      default:
        assertNever(message);
    }
  }

  /** The keys are followed from here on: what ends while the log comes in has ended. */
  #begin(start: Start): void {
    const { keys, ends, spent } = start;
    const { anonymous, logLevel } = start.config as Config;
    this.#start = start;
    this.#logger = createLogger(logLevel).child({ worker: start.worker });
    this.#keys = new RemoteKeys({ link: this.#link, clock: systemClock, anonymous, keys, ends, spent });
  }

  /** Serves until it is told to end. */
  async #run(start: Start, remoteKeys: RemoteKeys, filling: Filling): Promise<void> {
    const clock = systemClock;
    const link = this.#link;
    const logger = this.#logger;
    const config = start.config as Config;
    const remotePlaces = new RemotePlaces(link, () => remoteKeys.ends);
    this.#remotePlaces = remotePlaces;
    const leader = new PrimaryFollower({
      ...{ link, clock, staleAfterMs: config.staleAfterMs, news: start.news },
      read: (bytes) => readPlace({ bytes }),
      onBegun: () => this.#tellAlive(),
      onMisfit: (error) => {
        throw error;
      },
    });
    this.#leader = leader;
    const kept = createFilledKept(filling, { config, clock, logger });
    const { restored } = kept;
    const resume = restored && {
      snapshot: restored.known.lists.snapshot,
      observedAtMs: restored.observedAtMs,
      afterMs: 0,
      known: restored.known,
    };
    const keys: Keys = {
      door: remoteKeys.door,
      places: remotePlaces,
      stop: () => remoteKeys.stop(),
      looked: async () => {},
    };
    const gateway = await runGateway(config, {
      ...{ clock, logger, kept, keys, openFront: (options) => this.#openFront(config, options) },
      opened: { kind: "leader", source: leader, ...(resume ? { resume } : {}) },
      wholeMetrics: (own) => {
        this.#measure = () => own.json();
        const text = async () => String(await link.ask({ kind: "metrics" }));
        return { contentType: own.contentType, text };
      },
      isSourceElsewhere: true,
    });
    this.#stop = () => gateway.stop();
    if (this.#isStopping) this.#end();
  }

  /** A server that does not listen: what it serves is handed over. */
  async #openFront(config: Config, options: FrontOptions): Promise<Frontend> {
    const app = await createBoundedServer(config, options);
    const connections = new InjectedConnections(app.server, options.clock);
    const { head, settings } = options;
    this.#tellAlive = () => {
      const { cursor, ready: hasSnapshot } = head;
      this.#link.send({ type: "alive", cursor, hasSnapshot, connections: connections.size });
    };
    this.#link.onConnection((socket) => connections.take(socket));
    const front: Frontend = {
      listen: async () => {
        this.#tellAlive();
        this.#link.send({ type: "ready" });
        return "";
      },
      retire: () => app.server.closeIdleConnections(),
      close: async () => {
        await app.close();
        await connections.close(settings?.closeGraceMs ?? 0);
      },
    };
    this.#front = front;
    return front;
  }

  /** In order: its clients are sent away over the drain time. */
  #end(): void {
    this.#isStopping = true;
    // One that has not begun ends when it has: its end in the start would be a fault.
    void this.#stop?.().finally(() => process.exit(EXIT.clean));
  }

  async #tellMetrics(id: number): Promise<void> {
    this.#link.send({ type: "measured", id, metrics: await this.#measure?.() });
  }

  /** Nothing new comes any more, and nobody else would tell the clients. */
  #orphaned(): void {
    this.#logger.error("the process that has the source is gone; this worker tells its clients, and ends");
    const late = systemClock.sleep(ORPHAN_MS, new AbortController().signal);
    const closed = this.#front?.close() ?? Promise.resolve();
    void Promise.race([closed, late]).finally(() => process.exit(EXIT.retry));
  }
}

new Worker();
