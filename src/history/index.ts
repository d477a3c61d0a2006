/** Finished flares, remembered longer than the log. */

export type { HistoryQuery, HistoryStore, StoredRecord } from "./history-store.ts";
export { writeHistory } from "./history-writer.ts";
export { openSqliteHistoryStore } from "./sqlite-history-store.ts";
