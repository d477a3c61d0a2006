/** Finished flares, their candles and past minutes, remembered longer than the log. */

export {
  answerHistory,
  createHistoryReader,
  createRemoteHistory,
  type HistoryReader,
  type HistoryRequest,
  type MinuteAnswer,
} from "./history-reader.ts";
export type { HistoryQuery, HistoryStore, StoredRecord } from "./history-store.ts";
export { writeHistory } from "./history-writer.ts";
export { type MinuteState, openMinuteStore } from "./minute-store.ts";
export { MinuteWriter } from "./minute-writer.ts";
export { openSqliteHistoryStore } from "./sqlite-history-store.ts";
export { type RecordQuery, summarize } from "./track-record.ts";
