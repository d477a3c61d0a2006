import { createHash } from "node:crypto";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { notifyLog } from "../../base/lib/notify.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import { type Epoch, FlarewireError } from "../../base/protocol/index.ts";
import type { EventLog, FollowerLog } from "../../gateway/log/index.ts";
import { DurationHistogram } from "../../gateway/metrics/index.ts";
import {
  CheckpointSchedule,
  type EngineProgress,
  encodeLists,
  FAST_COMPRESSION,
  formatState,
  type HeadState,
  type MemoryOptions,
  memoryOptions,
  memoryPersistence,
  type OpenStore,
  PacedWork,
  type Persistence,
  type RestoredState,
} from "../../gateway/persistence/index.ts";
import type { GatewaySettings } from "../../gateway/settings/index.ts";
import { type LogFile, openLogFile } from "./log-file.ts";
import { restoreState } from "./restore-state.ts";
import { FileBusyError } from "./sqlite-failure.ts";
import { SqliteLog } from "./sqlite-log.ts";

/** Identifies a source in what is stored. */
export interface SourceIdentity {
  /** Distinguishes its files, so that gateways with different sources can share a directory. */
  readonly name: string;
  /** The source and its settings. Stored state is reused only if this is equal. */
  readonly fingerprint: string;
  /** Whether resuming needs a stored state of the engine. */
  readonly needsEngine: boolean;
}

interface FileOptions extends MemoryOptions {
  readonly config: MemoryOptions["config"] & Pick<GatewaySettings, "data">;
  readonly identity: SourceIdentity;
  readonly isDataOptional?: boolean | undefined;
  /** Epoch of a log in memory. Default: random. */
  readonly epoch?: Epoch | undefined;
}

type Progress = () => EngineProgress | undefined;

/** Clients see this text, so it states the consequence for them. */
const TROUBLE = "events are held in memory only: a restart begins a new epoch";

/**
 * Opens the stored log in the data directory, or a log in memory without a directory. Throws
 * `FileBusyError` while another process uses the log. If the log is unusable, throws
 * `invalid-setting`, or uses memory if `isDataOptional`.
 */
export function openPersistence(options: FileOptions): Persistence {
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

class FilePersistence implements Persistence {
  readonly restored: RestoredState | undefined;
  readonly writes = new DurationHistogram();
  readonly #options: FileOptions;
  readonly #file: LogFile;
  readonly #fingerprint: string;
  readonly #problem: string | undefined;
  #log: SqliteLog | undefined;
  #schedule: CheckpointSchedule;
  #storing: Promise<void> | undefined;
  #isStoring = false;
  readonly #closing = new AbortController();
  /** Whether a restart could continue from a stored state. */
  #hasState = false;

  constructor(options: FileOptions, file: LogFile) {
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
      file: this.#file,
      fingerprint: this.#fingerprint,
      follows,
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
    this.#hasState = stored?.state !== undefined;
    return log;
  }

  onReset(now: HeadState): void {
    this.#schedule.reset();
    this.#hasState = false;
    void this.onPublished(now);
  }

  async onPublished(now: HeadState, progress?: () => EngineProgress | undefined): Promise<void> {
    const log = this.#log;
    if (!log || log.isInMemoryOnly || this.#isStoring) return;
    if (!this.#schedule.isDue(now.head.cursor.seq)) return;
    this.#storing = this.#store(log, now, progress);
    if (!this.#hasState) await this.#storing;
  }

  /** Stores the present state. A large one takes many turns. Never rejects. */
  async #store(log: SqliteLog, { head, history }: HeadState, progress: Progress | undefined): Promise<void> {
    const { seq } = head.cursor;
    const work = new PacedWork(this.#options.clock, this.#closing.signal);
    this.#isStoring = true;
    try {
      const engine = progress?.();
      if (this.#options.identity.needsEngine && !engine) return;
      const [text, { lists }] = [formatState(head, engine), history];
      await work.pauseIfDue(this.#hasState);
      let slices = 0;
      for (const slice of engine?.slices ?? []) {
        log.saveSlice(deflateRawSync(slice, FAST_COMPRESSION));
        slices += 1;
        if (this.#closing.signal.aborted && this.#hasState) return;
        await work.pauseIfDue(this.#hasState);
      }
      log.saveCheckpoint(seq, text, encodeLists(lists), slices);
      this.#hasState = true;
      while (!this.#closing.signal.aborted && log.dropSlices()) await work.pauseIfDue(true);
      this.#schedule.stored(seq, work.ms);
    } catch (error) {
      this.#schedule.stored(seq, work.ms);
      const what = this.#hasState
        ? "the state cannot be stored; a restart continues from the one before"
        : "the state cannot be stored; until it can, a restart begins a new epoch";
      this.#options.logger.error({ err: error }, `${what}: ${messageOf(error)}`);
    } finally {
      this.#isStoring = false;
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#isStoring) await this.#storing;
    if (this.#log) await this.#log.close();
    else this.#file.close();
  }
}

/** Creates a function that opens this source's stores. */
export function createOpenStore(
  options: Parameters<typeof storedPath>[0] & Pick<FileOptions, "logger">,
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
