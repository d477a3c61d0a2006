import { setImmediate as turn } from "node:timers/promises";
import { HOUR_MS, MINUTE_MS } from "../../base/lib/time/time.ts";
import {
  type Group,
  OUTCOME_MINUTES,
  type Outcome,
  RECORD_WINDOWS,
  type RecordRange,
  type RecordWindow,
  type TrackRecord,
} from "../../base/model/index.ts";
import { summarizeOutcomes } from "../../base/model/summarize-outcomes.ts";
import type { RecordKey, StoredOutcome } from "./history-records.ts";
import type { HistoryStore } from "./sqlite-history-store.ts";

/** A window of time, and which flares count. */
export interface RecordQuery {
  readonly window: RecordWindow;
  /** Default: `bsc`. */
  readonly group?: Group | undefined;
  /** End of the window, inclusive, in milliseconds since 1970 UTC. */
  readonly toMs: number;
  /** Outcomes as they were known at this event time. Default: now. */
  readonly knownMs?: number | undefined;
}

interface FinalOutcome {
  readonly finalMs: number;
  readonly outcome: Outcome;
}

/** Outcomes become final this long after the start, or at the end of the flare if that is later. */
const FINAL_MS = OUTCOME_MINUTES[2] * MINUTE_MS;
/** Flares read at once, which takes a few milliseconds. */
const READ_FLARES = 200;

/** Bounds of the score ranges and of the liquidity ranges (in dollars) in a track record. */
const SCORES = [2.5, 3.5];
const LIQUIDITIES = [10_000, 50_000, 250_000];

/** Returns the track record of stored flares. Lets other work run between reads. */
export async function recordOf(
  store: Pick<HistoryStore, "outcomes">,
  { window, group = "bsc", toMs, knownMs }: RecordQuery,
): Promise<TrackRecord> {
  const fromMs = toMs - RECORD_WINDOWS[window] * HOUR_MS;
  const finals: FinalOutcome[] = [];
  let hasMore = true;
  let after: RecordKey | undefined;
  while (hasMore) {
    const bounds = { fromMs: fromMs - FINAL_MS, toMs, after, knownMs };
    const page = store.outcomes({ group, ...bounds, limit: READ_FLARES });
    after = page.at(-1)?.key;
    hasMore = page.length === READ_FLARES;
    const known = page.flatMap((stored) => finalOf(stored) ?? []);
    finals.push(...known.filter(({ finalMs }) => finalMs > fromMs && finalMs <= toMs));
    await turn();
  }
  const sorted = finals.sort((a, b) => a.finalMs - b.finalMs);
  return { window, ...(await describeFinals(sorted, group)) };
}

function finalOf({ startedMs, key, outcome }: StoredOutcome): FinalOutcome | undefined {
  if (!outcome?.final) return undefined;
  return { finalMs: Math.max(startedMs + FINAL_MS, key.finishedMs), outcome };
}

/** Describes final outcomes, oldest first. */
async function describeFinals(
  finals: readonly FinalOutcome[],
  group: Group,
): Promise<Omit<TrackRecord, "window">> {
  const outcomes = finals.map(({ outcome }) => outcome);
  const timeOf = (final: FinalOutcome | undefined) => final && new Date(final.finalMs).toISOString();
  const ranges = async (bounds: readonly number[], measure: (outcome: Outcome) => number) => {
    const rows: RecordRange[] = [];
    for (const [index, to] of [...bounds, null].entries()) {
      const from = bounds[index - 1] ?? null;
      const isWithin = (value: number) => value >= (from ?? 0) && value < (to ?? Number.POSITIVE_INFINITY);
      rows.push({
        from,
        to,
        figures: await summarizeOutcomes(
          outcomes.filter((one) => isWithin(measure(one))),
          turn,
        ),
      });
    }
    return rows;
  };
  const all = await summarizeOutcomes(outcomes, turn);
  return {
    first_at: timeOf(finals[0]) ?? null,
    last_at: timeOf(finals.at(-1)) ?? null,
    all,
    by_group: [{ group, figures: all }],
    by_score: await ranges(SCORES, ({ start_score }) => start_score ?? Number.NaN),
    by_liquidity: await ranges(LIQUIDITIES, ({ start_liquidity }) => Number(start_liquidity ?? Number.NaN)),
  };
}
