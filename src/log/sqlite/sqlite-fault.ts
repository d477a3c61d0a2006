import { FlarewireError } from "../../protocol/index.ts";

/** What kept SQLite from its work: another process; a file that is none of its own or is broken; anything else, such as a full disk. */
export type SqliteFault = "busy" | "damaged" | "other";

/** SQLite's primary result codes: https://www.sqlite.org/rescode.html */
const FAULTS: Readonly<Record<number, SqliteFault>> = {
  5: "busy", // SQLITE_BUSY
  6: "busy", // SQLITE_LOCKED
  11: "damaged", // SQLITE_CORRUPT
  26: "damaged", // SQLITE_NOTADB
};

/** The kind of an error that came out of work with a file. */
export function faultOf(error: unknown): SqliteFault {
  if (typeof error !== "object" || error === null) return "other";
  if ("fault" in error && error.fault === "damaged") return "damaged";
  // Extended codes have the primary one in their low byte.
  return "errcode" in error ? (FAULTS[Number(error.errcode) & 0xff] ?? "other") : "other";
}

/** A file that is none of ours, or does not hold what we would have written. */
export class DamagedError extends Error {
  readonly fault: SqliteFault = "damaged";
}

/** Another process has the log's file; it may be gone soon, so trying again later is right. */
export class FileBusyError extends FlarewireError {
  constructor(path: string, details: { cause: unknown }) {
    super(
      "not-ready",
      `${path} is in use by another process: stop that one first, or choose another directory with --data, or --data none`,
      { field: "data", cause: details.cause },
    );
  }
}
