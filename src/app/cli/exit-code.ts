import { InputError } from "../../base/lib/input-error.ts";
import { actionAfter, ERROR_CODES, FlarewireError } from "../../base/protocol/index.ts";
import { OutputError } from "../../feeds/index.ts";
import { EXIT, type ExitCode } from "./shutdown.ts";

/**
 * Returns the exit code for an error. An unknown error, such as a bug, is `retry`: a supervisor
 * should restart the process. So is an error with a temporary cause, such as a full disk, whatever
 * it prevented.
 */
export function exitCodeOf(error: unknown): ExitCode {
  if (isTemporary(error)) return EXIT.retry;
  if (error instanceof OutputError || error instanceof InputError) return EXIT.usage;
  if (error instanceof FlarewireError && actionAfter(ERROR_CODES[error.code].status) === "stop")
    return EXIT.usage;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && USER_ERRORS.has(code) ? EXIT.usage : EXIT.retry;
}

/** Maximum length of an error's chain of causes. */
const MAX_CAUSES = 10;

function isTemporary(error: unknown): boolean {
  let cause = error;
  // An error may be its own cause.
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++) {
    if ("code" in cause && TEMPORARY_ERRORS.has(String(cause.code))) return true;
    // Extended codes have the primary one in their low byte.
    if ("errcode" in cause && TEMPORARY_SQLITE.has(Number(cause.errcode) & 0xff)) return true;
    cause = cause.cause;
  }
  return false;
}

/** Errors of the system that pass, or that an operator removes without touching this program. */
const TEMPORARY_ERRORS = new Set([
  "ENOSPC",
  "EDQUOT",
  "EFBIG",
  "EIO",
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "EAGAIN",
  "EBUSY",
  "ESTALE",
  "EAI_AGAIN",
]);

/** SQLite's primary result codes BUSY, LOCKED, NOMEM, IOERR and FULL. */
const TEMPORARY_SQLITE = new Set([5, 6, 7, 10, 13]);

/** Errors that only the user can fix. */
const USER_ERRORS = new Set([
  "invalid-setting",
  "invalid-input",
  "EADDRINUSE",
  "EADDRNOTAVAIL",
  "EACCES",
  "EPERM",
  "ENOENT",
  "EISDIR",
  "ENOTDIR",
  "ENOTFOUND",
]);
