import { createHash } from "node:crypto";
import { type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import { MANIFEST_FILE } from "../../feed/index.ts";
import type { Head } from "../../hub/index.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { VERSION } from "../../lib/version.ts";
import {
  createFollowerLog,
  createMemoryLog,
  createSqliteLog,
  type DurableLog,
  type EventLog,
  FileBusyError,
  type FollowerLog,
  type LogFile,
  type LogStart,
  openLogFile,
  type ReplicaLog,
  type StoredLog,
  type Stray,
} from "../../log/index.ts";
import { FlarewireError, formatCursor, type Lists } from "../../protocol/index.ts";
import {
  type EngineProgress,
  formatPlace,
  formatState,
  type RestoredState,
  restoreState,
} from "./restored-state.ts";

/** What {@link openPersistence} works with. */
export interface KeptOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name of the source in place of the one that the config names. */
  readonly sourceName?: string | undefined;
  /** See GatewayParts. */
  readonly isDataOptional?: boolean | undefined;
}

/** The head, and its lists as they are at the same moment. */
export interface HeadState {
  readonly head: Head;
  readonly history: { readonly lists: Lists };
}

/** What outlives the process: the log and the state that belongs to it. */
export interface Persistence {
  /** What this process can go on from; `undefined`: nothing was kept, or it is not of this source, or not whole. */
  readonly restored: RestoredState | undefined;
  /** The log, once; {@link close} closes it. `problem`: why {@link restored} could not be used after all; then a new epoch begins. */
  createLog(problem?: string): EventLog;
  /** In place of {@link createLog}: the log of a gateway that follows another. */
  createFollowerLog(): FollowerLog;
  /** To be called after each poll that was published, before the next one: keeps the state now and then, with its lists. `progress` tells how far the engine is. */
  onPublished(now: HeadState, progress?: () => EngineProgress | undefined): void;
  /** To be called after each restart of the head: keeps the state that a later process goes on from. */
  onReset(now: HeadState): void;
  /** To be called last, also when nothing was made of it. */
  close(): Promise<void>;
  /** That nothing of this outlives the process though it should, in words for everybody: without paths. `undefined` while it does. */
  readonly trouble: string | undefined;
}

/** Clients see it, so it tells them what it means for them. */
const TROUBLE = "events are held in memory only: a restart begins a new epoch";
const STRAY =
  "a client came with a cursor of this epoch that the log does not have, and got a reset: the log's file was set back or lost its end, or the cursor is another server's. This is logged once";
/** Wall time between two states that are kept. A restart replays that much at full speed. */
const KEEP_EVERY_MS = 30_000;
/** Where keeping one takes long, as of an engine with much to remember, it takes no more than this part of the time: nobody is served meanwhile. */
const USUAL_SHARE = 0.002;
/** The same where much is appended, which a restart has to apply. */
const MAX_SHARE = 0.02;
/** Of the setting `seed`. */
const DEFAULT_SEED = 1;
/** Records between two states that are kept, at most: a restart applies that many. */
const KEEP_EVERY_RECORDS = 5_000;

/**
 * Opens what was kept in the config's data directory. Throws `FileBusyError` while another process has it, and FlarewireError
 * `invalid-setting` where it cannot be used. Where the directory is optional, that is logged instead, and the log is in memory.
 */
export function openPersistence(options: KeptOptions): Persistence {
  const { config, logger } = options;
  if (config.data === "none") return new MemoryKept(options, undefined);
  const path = keptPath(options, "events");
  let file: LogFile;
  try {
    const onSetAside = (sentence: string) => logger.warn({ path }, sentence);
    file = openLogFile({ path, nowMs: options.clock.now(), onSetAside });
  } catch (error) {
    if (error instanceof FileBusyError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    if (!options.isDataOptional) throw unusable(config, reason, error);
    logger.warn({ err: error }, `events are held in memory only: ${path} cannot be opened (${reason})`);
    return new MemoryKept(options, TROUBLE);
  }
  return new FileKept(options, file);
}

function unusable({ data }: Config, reason: string, cause: unknown): FlarewireError {
  const advice = "choose a directory that this user can write to, or none to hold events in memory only";
  return new FlarewireError("invalid-setting", `data = ${data} cannot be used (${reason}): ${advice}`, {
    field: "data",
    cause,
  });
}

class MemoryKept implements Persistence {
  readonly restored = undefined;
  readonly trouble: string | undefined;
  readonly #options: KeptOptions;
  #log: EventLog | undefined;

  constructor(options: KeptOptions, trouble: string | undefined) {
    this.#options = options;
    this.trouble = trouble;
  }

  createLog(): EventLog {
    this.#log = createMemoryLog(memoryOptions(this.#options));
    return this.#log;
  }

  createFollowerLog(): FollowerLog {
    const options = { ...memoryOptions(this.#options), follows: true };
    const open = (start: LogStart) => createMemoryLog({ ...options, start });
    const log = createFollowerLog(createMemoryLog(options), open);
    this.#log = log;
    return log;
  }

  onPublished(): void {}

  onReset(): void {}

  async close(): Promise<void> {
    await this.#log?.close();
  }
}

class FileKept implements Persistence {
  readonly restored: RestoredState | undefined;
  readonly #options: KeptOptions;
  readonly #file: LogFile;
  readonly #fingerprint: string;
  /** Why what was found can't be gone on from. */
  readonly #problem: string | undefined;
  #log: DurableLog | undefined;
  #nextAt = 0;
  #notBefore = 0;
  #keptSeq: number | undefined;

  constructor(options: KeptOptions, file: LogFile) {
    this.#options = options;
    this.#file = file;
    this.#fingerprint = fingerprintOf(options);
    const restored = file.found && restoreState(file.found, this.#fingerprint, needsEngine(options));
    if (restored && "problem" in restored) this.#problem = restored.problem;
    else this.restored = restored;
  }

  get trouble(): string | undefined {
    return this.#log?.isInMemoryOnly ? TROUBLE : undefined;
  }

  createLog(problem = this.#problem): ReplicaLog {
    return this.#begin(problem);
  }

  createFollowerLog(): FollowerLog {
    const first = this.#begin(this.#problem, true);
    return createFollowerLog(first, (start) => this.#open({ start, follows: true }));
  }

  /** The log of {@link createLog}. Of one that follows, an epoch of its own is nobody's: it holds until the leader says where it is. */
  #begin(problem: string | undefined, follows = false): ReplicaLog {
    const { clock, logger } = this.#options;
    const kept = this.restored && problem === undefined ? this.#file.found : undefined;
    const log = this.#open({ ...(kept ? { stored: kept } : {}), follows });
    const { path } = this.#file;
    const { epoch, seq } = log.head;
    if (kept) {
      const { closedInOrder } = kept;
      logger.info({ path, epoch, seq, closedInOrder }, "the log goes on where the process before ended");
    } else if (problem !== undefined) logger.warn({ path, epoch }, `a new epoch begins: ${problem}`);
    else if (follows) logger.info({ path }, "nothing is kept yet: the log will begin where the leader is");
    else logger.info({ path, epoch }, "a new log begins");
    if (kept?.state) this.#keptSeq = kept.state.seq;
    this.#nextAt = clock.monotonic() + KEEP_EVERY_MS;
    return log;
  }

  onReset(now: HeadState): void {
    this.#keptSeq = undefined;
    this.onPublished(now);
  }

  onPublished({ head, history }: HeadState, progress?: () => EngineProgress | undefined): void {
    const log = this.#log;
    if (!log || log.isInMemoryOnly) return;
    const { seq } = head.cursor;
    const startedAt = this.#options.clock.monotonic();
    if (this.#keptSeq !== undefined) {
      const isMuch = seq - this.#keptSeq >= KEEP_EVERY_RECORDS;
      if (startedAt < (isMuch ? this.#notBefore : this.#nextAt)) return;
    }
    log.saveCheckpoint(seq, formatState(head, progress?.()), formatPlace(history.lists));
    this.#keptSeq = seq;
    const endedAt = this.#options.clock.monotonic();
    const tookMs = endedAt - startedAt;
    this.#notBefore = endedAt + tookMs / MAX_SHARE;
    this.#nextAt = endedAt + Math.max(KEEP_EVERY_MS, tookMs / USUAL_SHARE);
  }

  #open(from: {
    readonly kept?: StoredLog;
    readonly start?: LogStart;
    readonly follows: boolean;
  }): DurableLog {
    const { logger } = this.#options;
    const log = createSqliteLog({
      ...memoryOptions(this.#options),
      file: this.#file,
      fingerprint: this.#fingerprint,
      ...from,
      onTrouble: (sentence, error) => logger.error({ err: error }, sentence),
    });
    this.#log = log;
    return log;
  }

  async close(): Promise<void> {
    if (this.#log) await this.#log.close();
    else this.#file.close();
  }
}

/** How long the log holds what, by the config. */
export function memoryOptions({ config, clock, logger }: Pick<KeptOptions, "config" | "clock" | "logger">) {
  return {
    clock,
    maxAgeMs: config.logAgeMs,
    minCount: config.logCount,
    lastingAgeMs: config.logFlareAgeMs,
    maxBytes: config.logBytes,
    onError: (error: unknown) => logger.error({ err: error }, "a listener of the log failed"),
    onStray: ({ cursor, head, lastOfRun }: Stray) => {
      const facts = { cursor: formatCursor(cursor), head: formatCursor(head), lastOfRun };
      logger.warn(facts, STRAY);
    },
  };
}

/** Only an engine has a state of its own; every other source knows all that it says at each poll. */
function needsEngine({ config, sourceName }: Pick<KeptOptions, "config" | "sourceName">): boolean {
  return sourceName === undefined && config.source === "engine";
}

/** Where in the data directory this source keeps something; only where there is one. */
export function keptPath(
  options: Pick<KeptOptions, "config" | "sourceName">,
  what: "events" | "alerts",
): string {
  return join(options.config.data, `${what}-${identityOf(options)}.sqlite`);
}

/** Names the file of this source, so that gateways of different sources can share a directory. */
function identityOf(options: Pick<KeptOptions, "config" | "sourceName">): string {
  const { config, sourceName } = options;
  const { feed, file, chain, seed } = config;
  // Without the seed that is the default: that file has always had this name.
  const simulated = seed === DEFAULT_SEED ? "" : ` ${seed}`;
  const of = { simulated, exchange: "", live: "", replay: ` ${resolve(file)}`, chain: ` ${chain}` };
  const which = of[feed];
  const market = `${feed}${which}`;
  const name = sourceName ?? (needsEngine(options) ? market : config.source);
  return createHash("sha256").update(name).digest("hex").slice(0, 12);
}

/** All on which the source's states depend: where it differs, nothing can be gone on from. The pace is no part of it. */
function fingerprintOf(options: KeptOptions): string {
  const { config, sourceName } = options;
  if (!needsEngine(options)) return JSON.stringify({ source: sourceName ?? config.source });
  const { feed, seed, file, profiles, group, loop, refreshMs } = config;
  // With enrichers the engine knows of facts that it does not know of without.
  const enriched = config.enrich.length > 0 ? { enriched: true } : {};
  // The simulated market is made again: by this program, with the logarithms of this runtime.
  if (feed === "simulated")
    return JSON.stringify({ feed, seed, refreshMs, version: VERSION, v8: process.versions.v8, ...enriched });
  if (feed === "exchange") {
    const { exchanges, exchangeQuotes } = config;
    return JSON.stringify({ feed, exchanges, exchangeQuotes, refreshMs, ...enriched });
  }
  if (feed === "live") {
    const { live, exchanges, exchangeQuotes } = config;
    return JSON.stringify({ feed, live, exchanges, exchangeQuotes, refreshMs, ...enriched });
  }
  // What the endpoints are does not matter: they tell one chain.
  if (feed === "chain") return JSON.stringify({ feed, chain: config.chain, refreshMs, ...enriched });
  const files = [file, profiles].map((path) => {
    const stat = path === undefined ? undefined : statOf(path);
    return stat ? [stat.size, stat.mtimeMs] : [];
  });
  return JSON.stringify({ feed, file, profiles, files, group, loop, refreshMs, ...enriched });
}

/** Of a recording's directory, its manifest, which changes with every part. */
function statOf(path: string): Stats | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() ? statSync(join(path, MANIFEST_FILE), { throwIfNoEntry: false }) : stat;
}
