import type { Config } from "../../app/config/config.ts";
import { notifyLog } from "../../base/lib/notify.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { SourceInfo } from "../../base/protocol/index.ts";
import type { Head } from "../../gateway/hub/index.ts";
import type { EventLog } from "../../gateway/log/index.ts";
import { openStore, type PersistenceOptions, storedPath } from "../../gateway/persistence/persistence.ts";
import {
  createHistoryReader,
  HistoryProgress,
  type HistoryReader,
  MIXED,
  MinuteWriter,
  openMinuteStore,
  openSqliteHistoryStore,
  writeHistory,
} from "./index.ts";

interface RecordedParts {
  readonly log: EventLog;
  readonly head: Head;
  /** If its origin is not live, each epoch is a different market with its own history. */
  readonly info: () => SourceInfo;
  readonly signal: AbortSignal;
}

export interface OpenHistory {
  readonly reader: HistoryReader;
  /** Stores the state of each minute from now on. Call it before the head moves. */
  watch(head: Head, info: RecordedParts["info"]): void;
  /** Writes the log's finished flares into the store until the signal aborts. Never rejects. */
  record(parts: RecordedParts): Promise<void>;
  /** Closes the stores. Call it after the last request. */
  close(): Promise<void>;
}

/**
 * Share of `historyBytes` for past minutes. By default, 30 days of 300 flares a day and their
 * candles fit into the rest.
 */
const MINUTES_SHARE = 0.5;
/** Minimum time between two logged read errors. */
const FAULT_QUIET_MS = 600_000;

/** Opens the history of flares and minutes. Open the log first: it locks the directory. */
export function openHistory(
  { historyMs, historyBytes }: Pick<Config, "historyMs" | "historyBytes">,
  options: PersistenceOptions,
): OpenHistory {
  const { clock, logger } = options;
  const minuteBytes = Math.floor(historyBytes * MINUTES_SHARE);
  const limits = { maxAgeMs: historyMs, maxBytes: historyBytes - minuteBytes };
  const notifyOf = (what: "history" | "minutes") =>
    notifyLog(logger, options.config.data === "none" ? {} : { path: storedPath(options, what) });
  const store = openStore(
    "history",
    (path) => openSqliteHistoryStore(limits, path, notifyOf("history")),
    options,
  );
  const minuteLimits = { maxAgeMs: historyMs, maxBytes: minuteBytes };
  const minuteStore = openStore("minutes", (path) => openMinuteStore(minuteLimits, path), options);
  let writer: MinuteWriter | undefined;
  const progress = new HistoryProgress();
  let quietUntilMs = 0;
  return {
    reader: createHistoryReader(store, {
      store: minuteStore,
      writer: () => writer,
      isComplete: () => progress.settled(),
      onFault: (error) => {
        // Not each time: every client may request the same minute again.
        if (clock.monotonic() < quietUntilMs) return;
        quietUntilMs = clock.monotonic() + FAULT_QUIET_MS;
        const message = `cannot read the states of past minutes: ${messageOf(error)}`;
        notifyOf("minutes")("error", message, { err: error });
      },
    }),
    watch: (head, info) => {
      const insert: typeof minuteStore.insert = (minute) => {
        // A generated market's minutes would replace those of the live one.
        if (store.isGenerated === false && info().origin !== "live") throw new Error(MIXED);
        return minuteStore.insert(minute);
      };
      writer = new MinuteWriter({ head, store: { insert }, notify: notifyOf("minutes") });
    },
    record: ({ info, ...parts }) =>
      writeHistory({
        ...{ ...parts, store, progress, clock, notify: notifyOf("history") },
        isGenerated: () => info().origin !== "live",
        onAnotherMarket: async (epoch) => {
          logger.info("deleting the previous market's history: this market starts over");
          await minuteStore.keepOnly(epoch);
        },
      }),
    close: async () => {
      await writer?.stop();
      minuteStore.close();
      store.close();
    },
  };
}
