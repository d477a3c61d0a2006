import type { Config } from "../../config/config.ts";
import type { KnownLists } from "../../hub/index.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { createFollowerLog, createMemoryLog, type FollowerLog, type LogRecord } from "../../log/index.ts";
import { toSeq } from "../../protocol/index.ts";
import type { FillEnd } from "../../workers/index.ts";
import { memoryOptions, type Persistence } from "./persistence.ts";
import { type RestoredState, readPlace } from "./restored-state.ts";

/** What a worker was given of its primary's log. */
export interface Filling {
  readonly records: readonly LogRecord[];
  readonly places: readonly { readonly seq: number; readonly bytes: Uint8Array }[];
  readonly end: FillEnd;
}

/** A log in memory that goes on from what the primary holds, as one goes on from its own file; nothing of it outlives the process. */
export function createFilledKept(
  filling: Filling,
  options: Parameters<typeof memoryOptions>[0] & { readonly config: Config; readonly clock: Clock },
): Persistence {
  const { records, end } = filling;
  const { cursor, positions, oldest, oldestLasting, runs } = end;
  const memory = { ...memoryOptions(options), follows: true };
  const kept = { records, positions, oldest, oldestLasting, runs };
  const first = createMemoryLog({ ...memory, epoch: cursor.epoch, stored: kept });
  const log: FollowerLog = createFollowerLog(first, (start) => createMemoryLog({ ...memory, start }));
  return {
    restored: restoredOf(filling),
    trouble: undefined,
    createLog: () => log,
    createFollowerLog: () => log,
    onPublished: () => {},
    onReset: () => {},
    close: () => log.close(),
  };
}

function restoredOf({ places, end }: Filling): RestoredState | undefined {
  if (!end.lists) return undefined;
  const lists = readPlace({ bytes: end.lists });
  const before = places.map((place) => ({ seq: toSeq(place.seq), lists: () => readPlace(place) }));
  const known: KnownLists = { lists, places: before };
  return { known, observedAtMs: end.observedAtMs, engine: undefined };
}
