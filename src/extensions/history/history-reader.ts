import type { TrackRecord } from "../../base/model/index.ts";
import type { MinuteRange, MinuteState, MinuteStore } from "./minute-store.ts";
import { createUnpack } from "./minute-text.ts";
import type { MinuteWriter } from "./minute-writer.ts";
import type { CostsOf } from "./record-trades.ts";
import type { HistoryStore } from "./sqlite-history-store.ts";
import { type RecordQuery, recordOf } from "./track-record.ts";

/**
 * The state of a minute; if it is missing, the range of the stored minutes. `stored` is `undefined`
 * if there are none, or if it is unknown. `hasFailed`: the store failed, or the history is
 * incomplete.
 */
export type MinuteAnswer =
  | { readonly minute: MinuteState; readonly snapshot: string }
  | { readonly minute: undefined; readonly stored: MinuteRange | undefined; readonly hasFailed?: true };

type StoreReader = {
  readonly [M in "find" | "started" | "page" | "candles" | "tokensOf" | "stillHas"]: (
    ...query: Parameters<HistoryStore[M]>
  ) => Promise<ReturnType<HistoryStore[M]>>;
};

/** Reads the history of flares and past minutes. */
export interface HistoryReader extends StoreReader {
  /** Changes whenever a flare's record may change. */
  readonly flaresVersion: number;
  /**
   * Changes when stored minutes are replaced or expire, and when the first minute is stored;
   * `undefined` if unknown.
   */
  readonly minutesVersion: number | undefined;
  /** Returns the state served at a past minute, such as 12:34:00. */
  minute(atMs: number): Promise<MinuteAnswer>;
  /** Returns the range of the stored minutes; `undefined` if there are none, or none readable. */
  minuteRange(): Promise<MinuteRange | undefined>;
  /** Returns what prices did after the flares of a window, once the log's flares are stored. */
  record(query: RecordQuery): Promise<TrackRecord>;
}

interface MinuteDependencies {
  readonly store: Pick<MinuteStore, "find" | "range" | "version">;
  /**
   * Returns the writer of the store. Default: no writer, so no minute is waiting to be stored, and
   * `minutesVersion` is unknown.
   */
  readonly writer?: () => Pick<MinuteWriter, "settled" | "lacks" | "replacements"> | undefined;
  /** Resolves to whether flares and candles of past minutes are stored. Default: they are. */
  readonly isComplete?: () => Promise<boolean>;
  readonly onFailure?: (error: unknown) => void;
}

const FAILED = { minute: undefined, stored: undefined, hasFailed: true } as const;

/** Reads the history from a store. Without `minutes`, it has no past minutes. */
export function createHistoryReader(
  store: HistoryStore,
  minutes?: MinuteDependencies,
  costsOf?: CostsOf,
): HistoryReader {
  const unpack = createUnpack();
  const writer = () => minutes?.writer?.();
  return {
    get flaresVersion() {
      return store.flaresVersion;
    },
    get minutesVersion() {
      const replacements = writer()?.replacements;
      return minutes && replacements !== undefined ? minutes.store.version + replacements : undefined;
    },
    find: async (id, knownMs) => store.find(id, knownMs),
    started: async (id) => store.started(id),
    page: async (query) => store.page(query),
    candles: async (query) => store.candles(query),
    tokensOf: async (query) => store.tokensOf(query),
    stillHas: async (query) => store.stillHas(query),
    minute: async (atMs) => {
      await writer()?.settled(atMs);
      if ((await minutes?.isComplete?.()) === false) return FAILED;
      try {
        const found = minutes?.store.find(atMs);
        if (!found) {
          await writer()?.settled();
          if (writer()?.lacks(atMs)) return FAILED;
          return { minute: undefined, stored: minutes?.store.range };
        }
        const { keyframeId, keyframe, body, ...minute } = found;
        return { minute, snapshot: unpack({ keyframeId, keyframe, body }).toString() };
      } catch (error) {
        minutes?.onFailure?.(error);
        return FAILED;
      }
    },
    minuteRange: async () => {
      try {
        return minutes?.store.range;
      } catch (error) {
        minutes?.onFailure?.(error);
        return undefined;
      }
    },
    record: async (query) => {
      // Where event time stands still, a record without the newest flares would be served for good.
      await minutes?.isComplete?.();
      return recordOf(store, query, costsOf);
    },
  };
}
