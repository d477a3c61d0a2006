/** The event log: the port, and the adapters behind it. */
export { decodeTail, encodeTail } from "./encode-tail.ts";
export * from "./event-log.ts";
export * from "./follower-log.ts";
export type { KeptLog, KeptPlace } from "./kept-log.ts";
export { type LogFile, type LogFileOptions, openLogFile } from "./log-file.ts";
export * from "./memory-log.ts";
export type { RunStart } from "./runs.ts";
export { FileBusyError } from "./sqlite-fault.ts";
export * from "./sqlite-log.ts";
