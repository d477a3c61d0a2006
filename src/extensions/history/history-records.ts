import type { AnyFlare, Candle, Explanation, FinishCause, Group, Outcome } from "../../base/model/index.ts";

/**
 * Limits of a store. `maxAgeMs` is event time since a flare's start or finish, or since a stored
 * minute. Candles of flares are stored for a day longer.
 */
export interface StoreLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

/** A start that was detected. */
export interface FlareStart {
  readonly id: string;
  readonly at: string;
  readonly why: Explanation | null;
}

/** A flare that finished. Its start is looked up in the store. */
export interface FlareFinish {
  readonly flare: AnyFlare;
  readonly why: Explanation | null;
  readonly cause: FinishCause;
  /** `null` if unknown; an outcome that is already stored then remains. */
  readonly outcome: Outcome | null;
  /** When this became known, in event time. Default: the time of the batch. */
  readonly atMs?: number;
}

/** The final outcome of a flare that finished earlier. */
export interface FlareOutcome {
  readonly id: string;
  readonly outcome: Outcome | null;
  /** As for {@link FlareFinish}. */
  readonly atMs?: number;
}

/** Candles of a token that flares, new or in place of stored ones. */
export interface FollowedCandles {
  readonly group: Group;
  readonly address: string;
  readonly candles: readonly Candle[];
  /** As for {@link FlareFinish}. */
  readonly atMs?: number;
}

/** Selects a token's candles by their opening, between two inclusive times in ms since 1970 UTC. */
export interface CandleQuery {
  readonly group: Group;
  /** Compared without regard to case. */
  readonly address: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Candles as they were known at this event time. Default: now. */
  readonly knownMs?: number | undefined;
}

/** Changes between two cursors of the log, in order. */
export interface HistoryBatch {
  /** The position in the log after these changes. */
  readonly cursor: string;
  /** Event time, in milliseconds since 1970 UTC. Decides which stored records are too old. */
  readonly nowMs: number;
  /** Whether the market is simulated or recorded. Default: unknown. */
  readonly isGenerated?: boolean;
  /** The stored history is of another market: delete it first. Default false. */
  readonly isAnotherMarket?: boolean;
  readonly starts: readonly FlareStart[];
  readonly finishes: readonly FlareFinish[];
  /** Outcomes of flares that finished in this batch or earlier. Others are ignored. */
  readonly outcomes: readonly FlareOutcome[];
  /** Default: none. */
  readonly candles?: readonly FollowedCandles[];
}

/** The position of a record: newest finish first, then the greatest id. */
export interface RecordKey {
  readonly finishedMs: number;
  readonly id: string;
}

export interface HistoryQuery {
  /** Default: `bsc`. */
  readonly group?: Group | undefined;
  /** Bounds of the finish, inclusive, in milliseconds since 1970 UTC. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** Compared without regard to case. On the exchange it is the symbol, compared exactly. */
  readonly address?: string | undefined;
  /** Compared without regard to case. */
  readonly symbol?: string | undefined;
  /** Only records after this one. */
  readonly after?: RecordKey | undefined;
  /** Records as they were known at this event time. Default: now. */
  readonly knownMs?: number | undefined;
  readonly limit: number;
}

/** Selects the tokens of a group with this symbol; case is ignored. */
export interface SymbolQuery {
  readonly group: Group;
  readonly symbol: string;
  /** Only flares that were known at this event time. Default: now. */
  readonly knownMs?: number | undefined;
  readonly limit: number;
}

/** The stored flares and candles that a response to `?at=` needs. */
export interface PastDataQuery extends Omit<HistoryQuery, "limit" | "after"> {
  readonly knownMs: number;
  /** Default: any. */
  readonly group?: Group | undefined;
  readonly id?: string | undefined;
  /** `false`: also flares that finished later. Default true. */
  readonly isFinishedThen?: boolean | undefined;
  /** Also candles that opened at this time or later. Default: none. */
  readonly candlesFromMs?: number | undefined;
}

export interface StoredRecord {
  readonly key: RecordKey;
  /** A FlareRecord as JSON. */
  readonly body: string;
}

export interface StoredOutcome {
  readonly key: RecordKey;
  /** When the flare started, in milliseconds since 1970 UTC. */
  readonly startedMs: number;
  readonly outcome: Outcome | null;
}
