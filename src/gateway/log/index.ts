/** The event log: its interface and the implementations. */
export { decodeTail, encodeTail } from "./encode-tail.ts";
export * from "./event-log.ts";
export * from "./memory-log.ts";
export { type LogFile, type LogFileOptions, openLogFile } from "./sqlite/log-file.ts";
export { type RunStart, Runs } from "./sqlite/runs.ts";
export { FileBusyError } from "./sqlite/sqlite-fault.ts";
export * from "./sqlite/sqlite-log.ts";
export type { ListCheckpoint, StoredLog } from "./sqlite/stored-log.ts";
