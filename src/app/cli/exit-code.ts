import { InputError } from "../../base/lib/input-error.ts";
import { actionAfter, ERROR_CODES, FlarewireError } from "../../base/protocol/index.ts";
import { OutputError } from "../../feeds/index.ts";
import { EXIT, type ExitCode } from "./shutdown.ts";

/**
 * Returns the exit code for an error. An unknown error, such as a bug, is `retry`: a supervisor
 * should restart the process.
 */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof OutputError || error instanceof InputError) return EXIT.usage;
  if (error instanceof FlarewireError && actionAfter(ERROR_CODES[error.code].status) === "stop")
    return EXIT.usage;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && USER_ERRORS.has(code) ? EXIT.usage : EXIT.retry;
}

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
