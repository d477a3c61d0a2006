import type { Registry } from "prom-client";
import type { Head } from "../hub/index.ts";
import type { EventLog, LogRecord } from "../log/index.ts";
import { CHANNELS } from "../protocol/index.ts";
import { level, total } from "./read-metric.ts";

export interface EventParts {
  readonly head: Head;
  readonly log: EventLog;
  /** Returns true while the data directory is unusable: a restart then begins a new epoch. */
  readonly isDataLost: () => boolean;
}

/** Adds the metrics of events. Returns a function that stops counting. */
export function addEvents(registry: Registry, { head, log, isDataLost }: EventParts): () => void {
  const events: Record<string, number> = Object.fromEntries(CHANNELS.map((channel) => [channel, 0]));
  const count = (records: readonly LogRecord[]) => {
    for (const { channel } of records) events[channel] = (events[channel] ?? 0) + 1;
  };
  total(
    registry,
    "flarewire_events_total",
    "Events appended to the log, by channel.",
    () => events,
    "channel",
    "first",
  );
  const own = (name: string, help: string, read: () => number) =>
    level(registry, name, help, read, undefined, "first");
  own("flarewire_head_seq", "Sequence number of the newest event.", () => head.cursor.seq);
  own("flarewire_log_bytes", "Bytes of the stored events.", () => log.bytes);
  const lost = "1 while the data directory is unusable; a restart then begins a new epoch.";
  own("flarewire_data_lost", lost, () => Number(isDataLost()));
  level(
    registry,
    "flarewire_flares",
    "Current flares, by list.",
    () => {
      const { free, pro } = head.snapshot.flares;
      return { free: free.length, pro: pro.length };
    },
    "list",
    "first",
  );
  return head.onChange(count);
}
