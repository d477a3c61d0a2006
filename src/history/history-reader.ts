import type { Candle, Explanation, TrackRecord } from "../model/index.ts";
import type {
  CandleQuery,
  HistoryQuery,
  HistoryStore,
  PastReach,
  StoredRecord,
  SymbolQuery,
} from "./history-store.ts";
import type { MinuteRange, MinuteState, MinuteStore } from "./minute-store.ts";
import { createUnpack } from "./minute-text.ts";
import { type RecordQuery, recordOf } from "./track-record.ts";

/** A request to the history, which may be sent to another process. */
export type HistoryRequest =
  | { readonly kind: "find"; readonly id: string; readonly knownMs?: number | undefined }
  | { readonly kind: "started"; readonly id: string }
  | { readonly kind: "page"; readonly query: HistoryQuery }
  | { readonly kind: "record"; readonly query: RecordQuery }
  | { readonly kind: "candles"; readonly query: CandleQuery }
  | { readonly kind: "tokens"; readonly query: SymbolQuery }
  | { readonly kind: "reaches"; readonly reach: PastReach }
  | { readonly kind: "minute"; readonly atMs: number };

/**
 * The state of a minute, or the range of the stored minutes: `undefined` if there are none.
 * `isFaulty`: the store cannot be read, or could not write the minute.
 */
export type MinuteAnswer =
  | { readonly minute: MinuteState; readonly snapshot: string }
  | { readonly minute: undefined; readonly stored: MinuteRange | undefined; readonly isFaulty?: true };

/** Reads the history, in this process or that of the store. */
export interface HistoryReader {
  /** Changes whenever a flare's record may change; `undefined` if unknown here. */
  readonly flaresVersion: number | undefined;
  /** Changes whenever stored minutes are replaced or expire; `undefined` if unknown here. */
  readonly minutesVersion: number | undefined;
  /** Returns a finished flare, as it was known at an event time. Default: now. */
  find(id: string, knownMs?: number): Promise<StoredRecord | undefined>;
  /** Returns why a running flare started: `null` if unexplained, `undefined` if not stored. */
  started(id: string): Promise<Explanation | null | undefined>;
  page(query: HistoryQuery): Promise<readonly StoredRecord[]>;
  /** Returns a token's candles, oldest first. */
  candles(query: CandleQuery): Promise<readonly Candle[]>;
  /** Returns the `tokenOf` of each token with this symbol that has finished flares. */
  tokensOf(query: SymbolQuery): Promise<readonly string[]>;
  /** Returns whether everything in `reach` that was stored at its `knownMs` is still stored. */
  reaches(reach: PastReach): Promise<boolean>;
  /** Returns the state served at a past minute, such as 12:34:00. */
  minute(atMs: number): Promise<MinuteAnswer>;
  /** Returns what prices did after the flares of a window. */
  record(query: RecordQuery): Promise<TrackRecord>;
}

/** Answers the request of another process. */
export async function answerHistory(reader: HistoryReader, request: HistoryRequest): Promise<unknown> {
  switch (request.kind) {
    case "find":
      return await reader.find(request.id, request.knownMs);
    case "started":
      return await reader.started(request.id);
    case "page":
      return await reader.page(request.query);
    case "candles":
      return await reader.candles(request.query);
    case "tokens":
      return await reader.tokensOf(request.query);
    case "reaches":
      return await reader.reaches(request.reach);
    case "minute":
      return await reader.minute(request.atMs);
    case "record":
      return await reader.record(request.query);
  }
}

interface MinuteParts {
  readonly store: Pick<MinuteStore, "find" | "range" | "version">;
  /** Resolves when the states queued for this minute or earlier are stored. Default: all. */
  readonly settled: (atMs?: number) => Promise<void>;
  /** Resolves to whether flares and candles of past minutes are stored. Default: they are. */
  readonly isComplete?: () => Promise<boolean>;
  /** Whether this minute is missing because the store fails at present. Default: no. */
  readonly lacks?: (atMs: number) => boolean;
  /** How many states were queued to replace stored ones: see MinuteWriter. Default: unknown. */
  readonly replacements?: () => number | undefined;
  /** Receives the error of a read. */
  readonly onFault?: (error: unknown) => void;
}

const FAULTY = { minute: undefined, stored: undefined, isFaulty: true } as const;

/** Reads the history in this process. Without `minutes`, it has no past minutes. */
export function createHistoryReader(store: HistoryStore, minutes?: MinuteParts): HistoryReader {
  const unpack = createUnpack();
  return {
    get flaresVersion() {
      return store.flaresVersion;
    },
    get minutesVersion() {
      const replacements = minutes?.replacements?.();
      return minutes && replacements !== undefined ? minutes.store.version + replacements : undefined;
    },
    find: async (id, knownMs) => store.find(id, knownMs),
    started: async (id) => store.started(id),
    page: async (query) => store.page(query),
    candles: async (query) => store.candles(query),
    tokensOf: async (query) => store.tokensOf(query),
    reaches: async (reach) => store.reaches(reach),
    minute: async (atMs) => {
      await minutes?.settled(atMs);
      if ((await minutes?.isComplete?.()) === false) return FAULTY;
      try {
        const found = minutes?.store.find(atMs);
        if (!found) {
          await minutes?.settled();
          if (minutes?.lacks?.(atMs)) return FAULTY;
          return { minute: undefined, stored: minutes?.store.range };
        }
        const { keyframeId, keyframe, body, ...minute } = found;
        return { minute, snapshot: unpack({ keyframeId, keyframe, body }).toString() };
      } catch (error) {
        minutes?.onFault?.(error);
        return FAULTY;
      }
    },
    record: (query) => recordOf(store, query),
  };
}

/** Reads a history by requests to the process that has it. */
export function createRemoteHistory(ask: (request: HistoryRequest) => Promise<unknown>): HistoryReader {
  return {
    flaresVersion: undefined,
    minutesVersion: undefined,
    find: async (id, knownMs) => (await ask({ kind: "find", id, knownMs })) as StoredRecord | undefined,
    started: async (id) => (await ask({ kind: "started", id })) as Explanation | null | undefined,
    page: async (query) => (await ask({ kind: "page", query })) as readonly StoredRecord[],
    candles: async (query) => (await ask({ kind: "candles", query })) as readonly Candle[],
    tokensOf: async (query) => (await ask({ kind: "tokens", query })) as readonly string[],
    reaches: async (reach) => (await ask({ kind: "reaches", reach })) as boolean,
    minute: async (atMs) => (await ask({ kind: "minute", atMs })) as MinuteAnswer,
    record: async (query) => (await ask({ kind: "record", query })) as TrackRecord,
  };
}
