/** Finished flares, remembered longer than the log. */

export {
  answerHistory,
  createHistoryReader,
  createRemoteHistory,
  type HistoryReader,
  type HistoryRequest,
} from "./history-reader.ts";
export type { HistoryQuery, HistoryStore, StoredRecord } from "./history-store.ts";
export { writeHistory } from "./history-writer.ts";
export { openSqliteHistoryStore } from "./sqlite-history-store.ts";
