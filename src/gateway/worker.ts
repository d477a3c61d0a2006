import type { Logger } from "pino";
import type { Config } from "../app/config/config.ts";
import { resumeOf } from "../app/open-source.ts";
import { assertNever } from "../base/lib/assert-never.ts";
import { EXIT, watchShutdown } from "../base/lib/io/shutdown.ts";
import { systemClock } from "../base/lib/time/clock.ts";
import { createRemoteHistory } from "../extensions/history/index.ts";
import { PrimaryFollower, PrimaryLink, RemoteState, type ToWorker } from "../workers/index.ts";
import { type KnownKeys, knownKeys } from "./keys/index.ts";
import type { LogRecord } from "./log/index.ts";
import { createReplicaStore, type LogSnapshot } from "./persistence/replica-store.ts";
import { decodeLists } from "./persistence/restored-state.ts";
import { runGateway } from "./start/app.ts";
import { createLogger } from "./start/create-logger.ts";
import { createBoundedServer, type Frontend, type FrontendOptions } from "./start/frontend.ts";
import { createAccess, type LocalAccess } from "./start/open-keys.ts";
import { openTokens } from "./start/open-tokens.ts";

/*
 * A worker process: serves the primary's log on connections that the primary hands over, until the
 * primary asks it to end or is gone.
 */

/** Minimum time between two reports to the primary that a key is in use. */
const USED_MS = 30_000;
/** How long a worker without its primary may take to disconnect its clients. */
const ORPHAN_MS = 4_000;

type Start = ToWorker & { readonly type: "start" };

class Worker {
  readonly #link: PrimaryLink;
  readonly #records: LogRecord[] = [];
  readonly #checkpoints: { readonly seq: number; readonly bytes: Uint8Array }[] = [];
  #start: Start | undefined;
  #logger: Logger = createLogger("info");
  #leader: PrimaryFollower | undefined;
  #keys: KnownKeys = knownKeys([]);
  readonly #state: RemoteState;
  #begun: Promise<LocalAccess> | undefined;
  #access: LocalAccess | undefined;
  #frontend: Frontend | undefined;
  #stop: (() => Promise<void>) | undefined;
  #isStopping = false;
  #measure: (() => Promise<unknown>) | undefined;
  #reportAlive = () =>
    this.#link.send({ type: "alive", cursor: undefined, hasSnapshot: false, connections: 0 });

  /** Monotonic time of the last report of a key's use to the primary. */
  readonly #usedMs = new Map<string, number>();
  readonly #used = (keyId: string) => {
    const nowMs = systemClock.monotonic();
    if (nowMs - (this.#usedMs.get(keyId) ?? Number.NEGATIVE_INFINITY) < USED_MS) return;
    this.#usedMs.set(keyId, nowMs);
    // Without its primary, this process ends anyway.
    this.#link.ask({ kind: "used", keyId }).catch(() => {});
  };

  constructor() {
    this.#link = new PrimaryLink(process, (message) => this.#receive(message));
    this.#state = new RemoteState(this.#link, systemClock);
    process.once("disconnect", () => this.#orphaned());
    // A signal to the process group, from a terminal or a service manager, also stops the primary.
    // If only this worker is stopped, the primary replaces it.
    void watchShutdown(process).requested.then((cause) => {
      // The event `disconnect` reports the primary's end too, and earlier.
      if (cause === "parent ended") return;
      this.#link.send({ type: "leaving" });
      this.#end();
    });
    const crash = (error: unknown) => {
      this.#logger.fatal({ err: error }, "unexpected error: stopping");
      process.exit(EXIT.retry);
    };
    process.on("uncaughtException", crash).on("unhandledRejection", crash);
  }

  #receive(message: Exclude<ToWorker, { type: "batch" | "begin" | "connection" | "answer" }>): void {
    switch (message.type) {
      case "start":
        this.#begun = this.#begin(message);
        break;
      case "records":
        this.#records.push(...message.records);
        break;
      case "checkpoint":
        this.#checkpoints.push(message);
        break;
      case "snapshot-end":
        if (this.#start && this.#begun)
          void this.#run(this.#start, this.#begun, {
            // Emptied, because the log drops old records and this list would not.
            records: this.#records.splice(0),
            checkpoints: this.#checkpoints.splice(0),
            end: message.end,
          });
        break;
      case "source":
        this.#leader?.update(message.report);
        this.#reportAlive();
        break;
      case "keys":
        this.#keys = knownKeys(message.keys);
        break;
      case "ended":
        this.#access?.end(message.keyId, message.reason);
        break;
      case "claimed":
        this.#state.claimed(message);
        break;
      case "counted":
        this.#state.counted(message);
        break;
      case "measure":
        void this.#sendMetrics(message.id);
        break;
      case "drain":
        this.#end();
        break;
      default:
        assertNever(message);
    }
  }

  /** Follows the keys before the log arrives: a key that ends meanwhile must not be accepted. */
  async #begin(start: Start): Promise<LocalAccess> {
    const { keys, spent } = start;
    const config = start.config as Config;
    this.#start = start;
    this.#logger = createLogger(config.logLevel).child({ worker: start.worker });
    this.#keys = knownKeys(keys ?? []);
    const ring = keys && {
      find: (text: string) => this.#keys.find(text),
      get: (id: string) => this.#keys.get(id),
    };
    const clock = systemClock;
    const logger = this.#logger;
    const tokens = await openTokens(config, { clock, logger });
    const access = createAccess(config, {
      clock,
      ring,
      tokens,
      logger,
      state: this.#state,
      onUsed: this.#used,
    });
    this.#access = access;
    for (const rate of spent) this.#state.counted(rate);
    return access;
  }

  async #run(start: Start, begun: Promise<LocalAccess>, snapshot: LogSnapshot): Promise<void> {
    const clock = systemClock;
    const link = this.#link;
    const logger = this.#logger;
    const config = start.config as Config;
    const leader = new PrimaryFollower({
      ...{ link, clock, staleAfterMs: config.staleAfterMs, report: start.report },
      decode: (bytes) => decodeLists({ bytes }),
      onBegun: () => this.#reportAlive(),
    });
    this.#leader = leader;
    const persistence = createReplicaStore(snapshot, { config, clock, logger });
    const { restored } = persistence;
    const resume = restored && resumeOf(restored, 0);
    const access = await begun;
    const stop = () => {
      access.stop();
      this.#state.stop();
    };
    const keys = { ...access, stop, looked: async () => {} };
    const gateway = await runGateway(config, {
      ...{ clock, logger, persistence, keys, openFrontend: (options) => this.#openFrontend(config, options) },
      opened: { kind: "leader", source: leader, ...(resume ? { resume } : {}) },
      history: {
        reader: createRemoteHistory((request) => link.ask({ kind: "history", request })),
        watch: () => {},
        record: async () => {},
        close: async () => {},
      },
      mergedMetrics: (own) => {
        this.#measure = () => own.json();
        const text = async () => String(await link.ask({ kind: "metrics" }));
        return { contentType: own.contentType, text };
      },
      isSourceElsewhere: true,
    });
    this.#stop = () => gateway.stop();
    if (this.#isStopping) this.#end();
  }

  /** Creates a server that does not listen; the primary hands connections over. */
  async #openFrontend(config: Config, options: FrontendOptions): Promise<Frontend> {
    const { connections, accept, retire, close } = await createBoundedServer(config, options);
    const { head } = options;
    this.#reportAlive = () => {
      const { cursor, ready: hasSnapshot } = head;
      this.#link.send({ type: "alive", cursor, hasSnapshot, connections: connections.size });
    };
    this.#link.onConnection(accept);
    const frontend: Frontend = {
      listen: async () => {
        this.#reportAlive();
        this.#link.send({ type: "ready" });
        return "";
      },
      ...{ retire, close },
    };
    this.#frontend = frontend;
    return frontend;
  }

  #end(): void {
    this.#isStopping = true;
    // A worker that is still starting stops after its start. Before that there is nothing to stop.
    void this.#stop?.().finally(() => process.exit(EXIT.clean));
  }

  async #sendMetrics(id: number): Promise<void> {
    this.#link.send({ type: "measured", id, metrics: await this.#measure?.() });
  }

  /**
   * Closes the clients' connections and exits after the primary is gone: no other process can serve
   * these clients.
   */
  #orphaned(): void {
    this.#logger.error("lost the primary process; disconnecting clients and stopping");
    const late = systemClock.sleep(ORPHAN_MS, new AbortController().signal);
    const closed = this.#frontend?.close() ?? Promise.resolve();
    void Promise.race([closed, late]).finally(() => process.exit(EXIT.retry));
  }
}

new Worker();
