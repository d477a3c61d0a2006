import type { Config } from "../../config/config.ts";
import {
  createHistoryReader,
  type HistoryReader,
  type HistoryStore,
  openSqliteHistoryStore,
  writeHistory,
} from "../../history/index.ts";
import type { Head } from "../../hub/index.ts";
import { notifyLog } from "../../lib/notify.ts";
import { messageOf } from "../../lib/text/message-of.ts";
import type { EventLog } from "../../log/index.ts";
import { type PersistenceOptions, storedPath } from "../persistence/persistence.ts";

interface RecordedParts {
  readonly log: EventLog;
  readonly head: Head;
  readonly signal: AbortSignal;
}

export interface OpenHistory {
  readonly reader: HistoryReader;
  /** Writes the log's flares into the store until the signal aborts. Never rejects. */
  record(parts: RecordedParts): Promise<void>;
  /** Closes the store. Call it after the last request. */
  close(): void;
}

/** Opens the history of flares. Open the log first: it locks the directory. */
export function openHistory(
  { historyMs, historyBytes }: Pick<Config, "historyMs" | "historyBytes">,
  options: PersistenceOptions,
): OpenHistory {
  const { clock, logger } = options;
  const store = openStore({ maxAgeMs: historyMs, maxBytes: historyBytes }, options);
  return {
    reader: createHistoryReader(store),
    close: () => store.close(),
    record: (parts) => writeHistory({ ...parts, store, clock, notify: notifyLog(logger) }),
  };
}

function openStore(
  limits: { readonly maxAgeMs: number; readonly maxBytes: number },
  options: PersistenceOptions,
): HistoryStore {
  if (options.config.data === "none") return openSqliteHistoryStore(limits);
  const path = storedPath(options, "history");
  try {
    return openSqliteHistoryStore(limits, path);
  } catch (error) {
    const reason = messageOf(error);
    options.logger.warn(
      `the history of flares will not survive a restart: ${path} cannot be used (${reason})`,
    );
    return openSqliteHistoryStore(limits);
  }
}
