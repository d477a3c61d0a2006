import { readFileSync, statSync } from "node:fs";
import { FlarewireError } from "../../base/protocol/index.ts";

/** `busy`: another process has it; `damaged`: unreadable or not ours; `other`: e.g. disk full. */
type SqliteFailure = "busy" | "damaged" | "other";

/** SQLite's primary result codes: https://www.sqlite.org/rescode.html */
const FAILURES: Readonly<Record<number, SqliteFailure>> = {
  5: "busy", // SQLITE_BUSY
  6: "busy", // SQLITE_LOCKED
  11: "damaged", // SQLITE_CORRUPT
  26: "damaged", // SQLITE_NOTADB
};

/** Classifies an error from work with a database file. */
export function failureOf(error: unknown): SqliteFailure {
  if (typeof error !== "object" || error === null) return "other";
  if ("failure" in error && error.failure === "damaged") return "damaged";
  // Extended codes have the primary one in their low byte.
  return "errcode" in error ? (FAILURES[Number(error.errcode) & 0xff] ?? "other") : "other";
}

/** Returns which process has locked the file, as ` (pid 123)`; empty if the system does not say. */
function holderOf(path: string): string {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    // As Linux packs them: man 3 makedev.
    const [major, minor] = [(dev >> 8n) & 0xfffn, (dev & 0xffn) | ((dev >> 12n) & 0xfff00n)];
    const device = [major, minor].map((part) => part.toString(16).padStart(2, "0")).join(":");
    const lock = new RegExp(` WRITE +([1-9]\\d*) ${device}:${ino} `);
    const [, pid] = lock.exec(readFileSync("/proc/locks", "utf8")) ?? [];
    return pid === undefined ? "" : ` (pid ${pid})`;
  } catch {
    return "";
  }
}

/** Another process holds the log's file. It may exit soon, so retrying is right. */
export class FileBusyError extends FlarewireError {
  constructor(path: string, details: { cause: unknown }) {
    super(
      "not-ready",
      `${path} is in use by another process${holderOf(path)}; it may still be stopping: wait, or stop that process, or choose another directory with --data, or --data none`,
      { field: "data", cause: details.cause },
    );
  }
}
