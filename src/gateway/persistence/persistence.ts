import type { Logger } from "pino";
import type { Clock } from "../../base/lib/time/clock.ts";
import { type Epoch, formatCursor, type Lists } from "../../base/protocol/index.ts";
import type { Head } from "../hub/index.ts";
import { type EventLog, type FollowerLog, MemoryLog, type Stray } from "../log/index.ts";
import type { DurationHistogram } from "../metrics/duration-histogram.ts";
import type { GatewaySettings } from "../settings/index.ts";
import type { EngineProgress, RestoredState } from "./restored-state.ts";

/** What a log needs, wherever it stores its events. */
export interface MemoryOptions {
  readonly config: Pick<GatewaySettings, "logAgeMs" | "logCount" | "logFlareAgeMs" | "logBytes">;
  readonly clock: Clock;
  readonly logger: Logger;
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
  /**
   * Stores the state at intervals. Call it after each published poll, and begin the next one when
   * it resolves, which waits for the first state only. Failures are logged.
   */
  onPublished(now: HeadState, progress?: () => EngineProgress | undefined): Promise<void> | void;
  /** Stores the state at once. Call it after each restart of the head. */
  onReset(now: HeadState): void;
  /** Closes the files. Call it last, even if no log was created. */
  close(): Promise<void>;
  /** How long batches took to store; absent if events were held in memory from the start. */
  readonly writes?: DurationHistogram | undefined;
  /** Public text, without paths, if data that should outlive the process will not. */
  readonly trouble: string | undefined;
}

const STRAY =
  "resetting a client whose cursor is not in the log: the log file was restored or truncated, or the cursor is from another server; this is logged once";

interface MemoryStart extends Partial<Pick<Persistence, "restored" | "trouble">> {
  /** The stored log that a follower resumes. Default: none. */
  readonly stored?: Pick<ConstructorParameters<typeof MemoryLog>[0], "stored" | "epoch">;
}

/** Holds the log in memory, and stores nothing. */
export function memoryPersistence(
  options: MemoryOptions & { readonly epoch?: Epoch | undefined },
  { restored, trouble, stored }: MemoryStart = {},
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

export function memoryOptions({ config, clock, logger }: MemoryOptions) {
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
