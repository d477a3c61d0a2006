import { setImmediate as turn } from "node:timers/promises";
import { EngineSource, type PolledEngine } from "../../../src/app/engine-source.ts";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { EMPTY_SNAPSHOT } from "../../../src/base/model/index.ts";
import { type EventBody, parseCursor } from "../../../src/base/protocol/index.ts";
import {
  type HistoryStore,
  openSqliteHistoryStore,
  writeHistory,
} from "../../../src/extensions/history/index.ts";
import { Head } from "../../../src/gateway/hub/index.ts";
import { MemoryLog } from "../../../src/gateway/log/index.ts";
import type { Feed } from "../../../src/gateway/source/feed.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { ROOMY } from "../../contract/event-log-contract.ts";
import { MINUTE_MS } from "./flare-records.ts";

export interface PlayedHistory {
  readonly store: HistoryStore;
  /** Event time of the last state. */
  readonly endMs: number;
}

/** Plays a feed through the engine, the log and the writer of the history, as a gateway does. */
export async function playIntoHistory(
  feed: Feed,
  engine: PolledEngine,
  onEvents: (events: readonly EventBody[]) => void = () => {},
): Promise<PlayedHistory> {
  const store = openSqliteHistoryStore({ maxAgeMs: 30 * 24 * 60 * MINUTE_MS, maxBytes: 2 ** 30 });
  const log = new MemoryLog({ ...ROOMY, minCount: 1_000, maxBytes: 2 ** 26, clock: systemClock });
  const head = new Head({ log, initial: { snapshot: EMPTY_SNAPSHOT, observedAtMs: 0 } });
  const over = new AbortController();
  const { signal } = over;
  const unexpected = (_: unknown, message: string) => {
    throw new Error(message);
  };
  const written = writeHistory({ log, head, store, clock: systemClock, notify: unexpected, signal });
  const source = new EngineSource({
    feed,
    engine,
    clock: systemClock,
    staleAfterMs: Number.POSITIVE_INFINITY,
  });
  for (;;) {
    const poll = await source.poll(signal).catch(() => undefined);
    if (!poll) break;
    const events = toEvents(head.snapshot, poll.snapshot, poll.observedAtMs);
    if (events.length === 0) continue;
    onEvents(events);
    await head.publish({ ...poll, events });
    // Only these events change the history.
    if (!events.some(({ name }) => name === "flare-finished" || name === "flare-outcome")) continue;
    while ((parseCursor(store.cursor ?? "")?.seq ?? -1) < head.cursor.seq) await turn();
  }
  over.abort();
  await written;
  return { store, endMs: head.observedAtMs };
}
