import { isoTime } from "../../../base/lib/time/iso-time.ts";
import { HOUR_MS, MINUTE_MS } from "../../../base/lib/time/time.ts";
import {
  CANDLE_MINUTES,
  type Candles,
  type FlareRecord,
  RECORD_WINDOWS,
  type Snapshot,
} from "../../../base/model/index.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import type { CandleCounts, HistoryReader, PastDataQuery } from "../index.ts";

/**
 * Returns a reader of the history as it was known at the event time `knownMs`. Each read of flares,
 * candles or records rejects with `time-gone` if data that it would have returned then has expired.
 */
export function historyThen(history: HistoryReader, knownMs: number): HistoryReader {
  const check = async (query: Omit<PastDataQuery, "knownMs">) => {
    if (!(await history.stillHas({ ...query, knownMs }))) throw expiredSince(knownMs);
  };
  const find = async (id: string) => {
    await check({ id });
    return await history.find(id, knownMs);
  };
  return {
    flaresVersion: history.flaresVersion,
    minutesVersion: history.minutesVersion,
    find,
    // A flare that was running then may have finished since.
    started: async (id) => {
      const started = await history.started(id);
      if (started !== undefined) return started;
      const finished = await history.find(id);
      if (finished) return (JSON.parse(finished.body) as FlareRecord).started;
      // It may also have expired since, with the reason of its start.
      if (!(await history.stillHas({ id, knownMs, isFinishedThen: false }))) throw expiredSince(knownMs);
      return undefined;
    },
    page: async (query) => {
      const found = await history.page({ ...query, knownMs });
      const { limit, after, group = "bsc", ...others } = query;
      const last = found.length >= limit ? found.at(-1)?.key.finishedMs : undefined;
      const toMs = after ? Math.min(after.finishedMs, query.toMs ?? after.finishedMs) : query.toMs;
      await check({ ...others, group, fromMs: last ?? query.fromMs, toMs });
      return found;
    },
    candles: async (query) => {
      await check({ id: "", candlesFromMs: query.fromMs });
      return await history.candles({ ...query, knownMs });
    },
    tokensOf: async (query) => {
      await check({ group: query.group, symbol: query.symbol });
      return await history.tokensOf({ ...query, knownMs });
    },
    stillHas: (query) => history.stillHas(query),
    minute: (atMs) => history.minute(atMs),
    minuteRange: () => history.minuteRange(),
    record: async (query) => {
      // A flare counts when its outcome is final, an hour after its start, so some flares in the
      // window finished before it.
      await check({
        group: query.group ?? "bsc",
        fromMs: query.toMs - RECORD_WINDOWS[query.window] * HOUR_MS - HOUR_MS,
        toMs: query.toMs,
      });
      return await history.record({ ...query, knownMs });
    },
  };
}

/**
 * Returns the candles of the tokens that flare in the snapshot. Rejects with `time-gone` unless all
 * are stored.
 */
export async function candlesThen(
  history: HistoryReader,
  { flares }: Snapshot,
  counts: CandleCounts | undefined,
  knownMs: number,
): Promise<Candles> {
  if (!counts) throw expiredSince(knownMs);
  const { closed_at } = counts;
  const closedMs = Date.parse(closed_at ?? "");
  const flaring = new Set([...flares.pro, ...flares.free].map(({ token }) => token.address));
  const addresses = [...flaring].filter((address) => Object.hasOwn(counts.bsc, address));
  const lists = await Promise.all(
    addresses.map(async (address) => {
      const window = { fromMs: closedMs - CANDLE_MINUTES * MINUTE_MS, toMs: closedMs - 1 };
      const candles = [...(await history.candles({ group: "bsc", address, ...window }))];
      if (candles.length !== counts.bsc[address]) throw expiredSince(knownMs);
      return [address, candles] as const;
    }),
  );
  return { closed_at, bsc: Object.fromEntries(lists) };
}

function expiredSince(knownMs: number): FlarewireError {
  const message = `some flares or candles of the response at ${isoTime(knownMs)} are no longer stored; request fewer of them, or a later time`;
  return new FlarewireError("time-gone", message, { field: "at", bound: "a later time" });
}
