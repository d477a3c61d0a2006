/** Stores finished flares, their candles and past minutes for longer than the log. */

export { history } from "./history-extension.ts";
export { HistoryProgress } from "./history-progress.ts";
export {
  createHistoryReader,
  type HistoryReader,
  type MinuteAnswer,
} from "./history-reader.ts";
export type { HistoryQuery, PastDataQuery, StoredRecord } from "./history-records.ts";
export { MIXED, writeHistory } from "./history-writer.ts";
export { channelsOfToken, flareText } from "./http/history-routes.ts";
export { TokenBodies } from "./http/token-bodies.ts";
export { withLive } from "./http/token-details.ts";
export { type MinuteState, openMinuteStore } from "./minute-store.ts";
export { type CandleCounts, MinuteWriter } from "./minute-writer.ts";
export { type HistoryStore, openSqliteHistoryStore } from "./sqlite-history-store.ts";
export type { RecordQuery } from "./track-record.ts";
