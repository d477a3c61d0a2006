import { setImmediate as turn } from "node:timers/promises";
import { notifyLog } from "../../base/lib/notify.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { Outcome } from "../../base/model/index.ts";
import { type ExtensionContext, extension, type OpenExtension } from "../../gateway/start/index.ts";
import { calibrationOf } from "./calibration.ts";
import { HistoryProgress } from "./history-progress.ts";
import { createHistoryReader, type HistoryReader } from "./history-reader.ts";
import { HISTORY_SETTINGS, type HistorySettings } from "./history-settings.ts";
import { MIXED, writeHistory } from "./history-writer.ts";
import { addHistoryRoutes } from "./http/history-routes.ts";
import { StoredPast } from "./http/past-states.ts";
import { openMinuteStore } from "./minute-store.ts";
import { MinuteWriter } from "./minute-writer.ts";
import { costsWith, type TradeCosts, tradesOf } from "./record-trades.ts";
import { openSqliteHistoryStore } from "./sqlite-history-store.ts";
import { summarizeOutcomes } from "./summarize-outcomes.ts";

/** Stores finished flares and past minutes for longer than the log, and serves them. */
export const history = {
  ...extension({ name: "history", settings: HISTORY_SETTINGS, open: openHistory }),
  /** What prices did after flares, whether they were worth it, and if their odds were right. */
  summarize: async (outcomes: readonly Outcome[], costs: TradeCosts) => ({
    record: await summarizeOutcomes(outcomes, turn),
    trades: tradesOf(outcomes, costs),
    calibration: calibrationOf(outcomes),
  }),
};

/**
 * Share of `historyBytes` for past minutes. By default, 30 days of 300 flares a day and their
 * candles fit into the rest.
 */
const MINUTES_SHARE = 0.5;
/** Minimum time between two logged read errors. */
const FAILURE_QUIET_MS = 600_000;

function openHistory(context: ExtensionContext<HistorySettings>): OpenExtension<HistoryReader> {
  const { settings, clock, logger, head, log, info } = context;
  const { historyMs, historyBytes } = settings;
  const minuteBytes = Math.floor(historyBytes * MINUTES_SHARE);
  const limits = { maxAgeMs: historyMs, maxBytes: historyBytes - minuteBytes };
  const reportsOf = (path: string | undefined) => notifyLog(logger, path === undefined ? {} : { path });
  const [store, notify] = context.openStore("history", "the history of flares", (path) => {
    const report = reportsOf(path);
    return [openSqliteHistoryStore(limits, path, report), report] as const;
  });
  const minuteLimits = { maxAgeMs: historyMs, maxBytes: minuteBytes };
  const [minuteStore, notifyOfMinutes] = context.openStore(
    "minutes",
    "the states of past minutes",
    (path) => [openMinuteStore(minuteLimits, path), reportsOf(path)] as const,
  );
  // A live market that ended before anything was stored must not keep a simulated one out.
  if (store.size.bytes === 0 && minuteStore.range === undefined) store.forgetOrigin();
  const insert: typeof minuteStore.insert = (minute) => {
    // A generated market's minutes would replace the live market's.
    if (store.isGenerated === false && info().origin !== "live") throw new Error(MIXED);
    return minuteStore.insert(minute);
  };
  const writer = new MinuteWriter({ head, store: { insert }, notify: notifyOfMinutes });
  const progress = new HistoryProgress();
  let quietUntilMs = 0;
  const reader = createHistoryReader(
    store,
    {
      store: minuteStore,
      writer: () => writer,
      isComplete: () => progress.settled(),
      onFailure: (error) => {
        // Not each time: every client may request the same minute again.
        if (clock.monotonic() < quietUntilMs) return;
        quietUntilMs = clock.monotonic() + FAILURE_QUIET_MS;
        const message = `cannot read the states of past minutes: ${messageOf(error)}`;
        notifyOfMinutes("error", message, { err: error });
      },
    },
    costsWith(settings),
  );
  let recorded: Promise<void> | undefined;
  return {
    provides: reader,
    past: new StoredPast({ head, history: reader, info }),
    routes: ({ add }) => addHistoryRoutes(add, { head, history: reader }),
    start: (signal) => {
      recorded = writeHistory({
        log,
        head,
        signal,
        store,
        progress,
        clock,
        notify,
        isGenerated: () => info().origin !== "live",
        onAnotherMarket: async (epoch) => {
          if (store.size.bytes > 0)
            logger.info("deleting the previous market's history: this market starts over");
          await minuteStore.keepOnly(epoch);
        },
      });
    },
    finish: async () => recorded,
    close: async () => {
      await writer.stop();
      minuteStore.close();
      store.close();
    },
  };
}
