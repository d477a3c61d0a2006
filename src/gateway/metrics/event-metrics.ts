import { CHANNELS } from "../../base/protocol/index.ts";
import type { Head } from "../hub/index.ts";
import type { EventLog, LogRecord } from "../log/index.ts";
import type { DurationHistogram } from "./duration-histogram.ts";
import { distribution, level, type Metrics, total } from "./metric-table.ts";

export interface MeasuredEvents {
  readonly head: Head;
  readonly log: EventLog;
  /** Where the events are stored: see `Persistence`. */
  readonly persistence: {
    readonly trouble: string | undefined;
    readonly writes?: DurationHistogram | undefined;
  };
}

/** Returns the metrics of events, and a function that stops counting. */
export function eventMetrics({ head, log, persistence }: MeasuredEvents): readonly [Metrics, () => void] {
  const events: Record<string, number> = Object.fromEntries(CHANNELS.map((channel) => [channel, 0]));
  const count = (records: readonly LogRecord[]) => {
    for (const { channel } of records) events[channel] = (events[channel] ?? 0) + 1;
  };
  const flares = () => {
    const { free, pro } = head.snapshot.flares;
    return { free: free.length, pro: pro.length };
  };
  const { writes } = persistence;
  const isDataLost = () => persistence.trouble !== undefined;
  const lost = "1 while the data directory is unusable; a restart then begins a new epoch.";
  const metrics: Metrics = {
    flarewire_events_total: total("Events appended to the log, by channel.", () => events, "channel"),
    flarewire_head_seq: level("Sequence number of the newest event.", () => head.cursor.seq),
    flarewire_log_bytes: level("Bytes of the stored events.", () => log.bytes),
    flarewire_log_durable: level(
      "1 while events are stored on disk, so that a restart continues; 0 while they are in memory.",
      () => Number(writes !== undefined && !isDataLost()),
    ),
    ...(writes && {
      flarewire_log_write_duration_seconds: distribution("Time to store a batch of events on disk.", () => [
        [{}, writes.seconds],
      ]),
    }),
    flarewire_data_lost: level(lost, () => Number(isDataLost())),
    flarewire_flares: level("Current flares, by list.", flares, "list"),
  };
  return [metrics, head.onChange(count)];
}
