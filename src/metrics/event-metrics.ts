import type { Registry } from "prom-client";
import type { Head } from "../hub/index.ts";
import type { EventLog, LogRecord } from "../log/index.ts";
import { CHANNELS } from "../protocol/index.ts";
import { level, total } from "./read-metric.ts";

/** Where events are, and what is served of them. */
export interface EventParts {
  readonly head: Head;
  readonly log: EventLog;
  /** A data directory is configured, and cannot be used: a restart begins a new epoch. */
  readonly isDataLost: () => boolean;
}

/** What was appended, and what is held. Returns how to stop counting. */
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
  own("flarewire_head_seq", "Seq of the newest event that is served.", () => head.cursor.seq);
  own("flarewire_log_bytes", "Bytes that the events held take.", () => log.bytes);
  const lost = "1 while the data directory cannot be used: a restart then begins a new epoch.";
  own("flarewire_data_lost", lost, () => Number(isDataLost()));
  level(
    registry,
    "flarewire_flares",
    "Tokens that flare now, by list.",
    () => {
      const { free, pro } = head.snapshot.flares;
      return { free: free.length, pro: pro.length };
    },
    "list",
    "first",
  );
  return head.onChange(count);
}
