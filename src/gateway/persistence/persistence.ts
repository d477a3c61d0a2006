import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import { notifyLog } from "../../base/lib/notify.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { DurationHistogram } from "../../base/lib/time/duration-histogram.ts";
import { type Epoch, FlarewireError, formatCursor, type Lists } from "../../base/protocol/index.ts";
import type { Head } from "../hub/index.ts";
import {
  type EventLog,
  FileBusyError,
  type FollowerLog,
  type LogFile,
  MemoryLog,
  openLogFile,
  SqliteLog,
  type Stray,
} from "../log/index.ts";
import type { GatewaySettings } from "../settings/index.ts";
import { CheckpointSchedule } from "./checkpoint-schedule.ts";
import {
  type EngineProgress,
  encodeLists,
  formatState,
  type RestoredState,
  restoreState,
} from "./restored-state.ts";

type RetentionConfig = Pick<GatewaySettings, "logAgeMs" | "logCount" | "logFlareAgeMs" | "logBytes">;

/** Identifies a source in what is stored. */
export interface SourceIdentity {
  /** Distinguishes its files, so that gateways with different sources can share a directory. */
  readonly name: string;
  /** The source and its settings. Stored state is reused only if this is equal. */
  readonly fingerprint: string;
  /** Whether resuming needs a stored state of the engine. */
  readonly needsEngine: boolean;
}

export interface PersistenceOptions {
  readonly config: RetentionConfig & Pick<GatewaySettings, "data">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly identity: SourceIdentity;
  readonly isDataOptional?: boolean | undefined;
  /** Epoch of a log in memory. Default: random. */
  readonly epoch?: Epoch | undefined;
}

/** The head and its lists at the same moment. */
export interface HeadState {
  readonly head: Head;
  readonly history: { readonly lists: Lists };
}

/** The log and its state, which outlive the process. */
export interface Persistence {
  /** State to resume from; `undefined` if nothing is stored that this source can use. */
  readonly restored: RestoredState | undefined;
  /**
   * Creates the log, once. It resumes from {@link restored}, or begins a new epoch if there is a
   * `problem`, which is logged.
   */
  createLog(problem?: string): EventLog;
  /** Creates the log of a gateway that follows another, instead of {@link createLog}. */
  createFollowerLog(): FollowerLog;
  /** Stores the state at intervals. Call it after each published poll, before the next one. */
  onPublished(now: HeadState, progress?: () => EngineProgress | undefined): void;
  /** Stores the state at once. Call it after each restart of the head. */
  onReset(now: HeadState): void;
  /** Closes the files. Call it last, even if no log was created. */
  close(): Promise<void>;
  /** How long batches took to store; absent if events were held in memory from the start. */
  readonly writes?: DurationHistogram | undefined;
  /** Public text, without paths, if data that should outlive the process will not. */
  readonly trouble: string | undefined;
}

/** Clients see this text, so it states the consequence for them. */
const TROUBLE = "events are held in memory only: a restart begins a new epoch";
const STRAY =
  "resetting a client whose cursor is not in the log: the log file was restored or truncated, or the cursor is from another server; this is logged once";

/**
 * Opens the stored log in the data directory, or a log in memory without a directory. Throws
 * `FileBusyError` while another process uses the log. If the log is unusable, throws
 * `invalid-setting`, or uses memory if `isDataOptional`.
 */
export function openPersistence(options: PersistenceOptions): Persistence {
  const { config, logger } = options;
  if (config.data === "none") return memoryPersistence(options);
  const path = storedPath(options, "events");
  let file: LogFile;
  try {
    const onSetAside = (sentence: string) => logger.warn({ path }, sentence);
    file = openLogFile({ path, nowMs: options.clock.now(), onSetAside });
  } catch (error) {
    if (error instanceof FileBusyError) throw error;
    const reason = messageOf(error);
    if (!options.isDataOptional) throw unusable(config, reason, error);
    logger.warn({ err: error }, `events are held in memory only: ${path} cannot be opened (${reason})`);
    return memoryPersistence(options, { trouble: TROUBLE });
  }
  return new FilePersistence(options, file);
}

function unusable({ data }: Pick<GatewaySettings, "data">, reason: string, cause: unknown): FlarewireError {
  const advice =
    "choose a directory that this user can write to, or set data = none to hold events in memory only";
  return new FlarewireError("invalid-setting", `data = ${data} cannot be used (${reason}): ${advice}`, {
    field: "data",
    cause,
  });
}

interface MemoryParts extends Partial<Pick<Persistence, "restored" | "trouble">> {
  /** The stored log that a follower resumes. Default: none. */
  readonly stored?: Pick<ConstructorParameters<typeof MemoryLog>[0], "stored" | "epoch">;
}

/** Holds the log in memory, and stores nothing. */
export function memoryPersistence(
  options: Pick<PersistenceOptions, "clock" | "logger" | "epoch"> & { readonly config: RetentionConfig },
  { restored, trouble, stored }: MemoryParts = {},
): Persistence {
  const { epoch } = options;
  const memory = memoryOptions(options);
  let log: MemoryLog | undefined;
  return {
    restored,
    trouble,
    createLog: () => (log = new MemoryLog({ ...memory, epoch })),
    createFollowerLog: () => {
      log = new MemoryLog({ ...memory, follows: true, ...stored });
      // Otherwise `stored` would keep all its events in memory, while the log drops old ones.
      stored = undefined;
      return log;
    },
    onPublished: () => {},
    onReset: () => {},
    close: async () => await log?.close(),
  };
}

class FilePersistence implements Persistence {
  readonly restored: RestoredState | undefined;
  readonly writes = new DurationHistogram();
  readonly #options: PersistenceOptions;
  readonly #file: LogFile;
  readonly #fingerprint: string;
  readonly #problem: string | undefined;
  #log: SqliteLog | undefined;
  #schedule: CheckpointSchedule;

  constructor(options: PersistenceOptions, file: LogFile) {
    this.#options = options;
    this.#file = file;
    this.#schedule = new CheckpointSchedule(options.clock);
    const { fingerprint, needsEngine } = options.identity;
    this.#fingerprint = fingerprint;
    const { found } = file;
    // A failed start, for example with a port in use, leaves a log that no client has seen.
    const isEmpty = found && !found.state && found.oldest === 0 && found.records.length === 0;
    const restored = found && !isEmpty ? restoreState(found, fingerprint, needsEngine) : undefined;
    if (restored && "problem" in restored) this.#problem = restored.problem;
    else this.restored = restored;
  }

  get trouble(): string | undefined {
    return this.#log?.isInMemoryOnly ? TROUBLE : undefined;
  }

  createLog(problem = this.#problem): EventLog {
    return this.#begin(problem, false);
  }

  createFollowerLog(): FollowerLog {
    return this.#begin(this.#problem, true);
  }

  /** Opens the log. A follower's own epoch is provisional until its leader sends one. */
  #begin(problem: string | undefined, follows: boolean): SqliteLog {
    const { clock, logger } = this.#options;
    const stored = this.restored && problem === undefined ? this.#file.found : undefined;
    const log = new SqliteLog({
      ...memoryOptions(this.#options),
      ...{ file: this.#file, fingerprint: this.#fingerprint, follows },
      ...(stored ? { stored } : {}),
      notify: notifyLog(logger),
      onWritten: (ms) => this.writes.add(ms),
    });
    this.#log = log;
    const { path } = this.#file;
    const { epoch, seq } = log.head;
    if (stored) {
      const { closedInOrder } = stored;
      logger.info({ path, epoch, seq, closedInOrder }, "resuming the stored log");
    } else if (problem !== undefined) logger.warn({ path, epoch }, `starting a new epoch: ${problem}`);
    else if (follows) logger.info({ path }, "no stored log; starting at the leader's position");
    else logger.info({ path, epoch }, "starting a new log");
    this.#schedule = new CheckpointSchedule(clock, stored?.state?.seq);
    return log;
  }

  onReset(now: HeadState): void {
    this.#schedule.reset();
    this.onPublished(now);
  }

  onPublished({ head, history }: HeadState, progress?: () => EngineProgress | undefined): void {
    const log = this.#log;
    if (!log || log.isInMemoryOnly) return;
    const { seq } = head.cursor;
    if (!this.#schedule.isDue(seq)) return;
    const startedAt = this.#options.clock.monotonic();
    log.saveCheckpoint(seq, formatState(head, progress?.()), encodeLists(history.lists));
    this.#schedule.stored(seq, startedAt);
  }

  async close(): Promise<void> {
    if (this.#log) await this.#log.close();
    else this.#file.close();
  }
}

function memoryOptions({
  config,
  clock,
  logger,
}: Pick<PersistenceOptions, "clock" | "logger"> & { readonly config: RetentionConfig }) {
  return {
    clock,
    maxAgeMs: config.logAgeMs,
    minCount: config.logCount,
    lastingAgeMs: config.logFlareAgeMs,
    maxBytes: config.logBytes,
    onError: (error: unknown) => logger.error({ err: error }, "listener of the log failed"),
    onStray: ({ cursor, head, lastOfRun }: Stray) => {
      const facts = { cursor: formatCursor(cursor), head: formatCursor(head), lastOfRun };
      logger.warn(facts, STRAY);
    },
  };
}

/**
 * Opens a store beside the log: a file, or memory if there is no data directory or the file is
 * unusable. `file`: the beginning of its name. `what`: the store in words, for the log.
 */
export type OpenStore = <T>(file: string, what: string, open: (path?: string) => T) => T;

/** Creates a function that opens this source's stores. */
export function createOpenStore(
  options: Parameters<typeof storedPath>[0] & Pick<PersistenceOptions, "logger">,
): OpenStore {
  return (file, what, open) => {
    if (options.config.data === "none") return open();
    const path = storedPath(options, file);
    try {
      return open(path);
    } catch (error) {
      const reason = `${path} cannot be used (${messageOf(error)})`;
      options.logger.warn(`${what} will not survive a restart: ${reason}`);
      return open();
    }
  };
}

/** Returns the path of this source's file. Requires a data directory. */
export function storedPath(
  {
    config,
    identity,
  }: { readonly config: { readonly data: string }; readonly identity: { readonly name: string } },
  what: string,
): string {
  const digest = createHash("sha256").update(identity.name).digest("hex").slice(0, 12);
  return join(config.data, `${what}-${digest}.sqlite`);
}
