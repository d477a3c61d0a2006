import { FlarewireError } from "../../protocol/index.ts";

/** `busy`: another process has it; `damaged`: unreadable or not ours; `other`: e.g. disk full. */
type SqliteFault = "busy" | "damaged" | "other";

/** SQLite's primary result codes: https://www.sqlite.org/rescode.html */
const FAULTS: Readonly<Record<number, SqliteFault>> = {
  5: "busy", // SQLITE_BUSY
  6: "busy", // SQLITE_LOCKED
  11: "damaged", // SQLITE_CORRUPT
  26: "damaged", // SQLITE_NOTADB
};

/** Classifies an error from work with a database file. */
export function faultOf(error: unknown): SqliteFault {
  if (typeof error !== "object" || error === null) return "other";
  if ("fault" in error && error.fault === "damaged") return "damaged";
  // Extended codes have the primary one in their low byte.
  return "errcode" in error ? (FAULTS[Number(error.errcode) & 0xff] ?? "other") : "other";
}

/** Another process holds the log's file. It may exit soon, so retrying is right. */
export class FileBusyError extends FlarewireError {
  constructor(path: string, details: { cause: unknown }) {
    super(
      "not-ready",
      `${path} is in use by another process; stop that process, or choose another directory with --data, or --data none`,
      { field: "data", cause: details.cause },
    );
  }
}
