interface InputErrorDetails {
  /** Line of the file, counted from 1; 0 if not even the first line was readable. */
  readonly line?: number;
  readonly cause?: unknown;
}

/**
 * A file named by the user is unusable. The message, with file, line, reason, value and bound, can
 * be shown as is; the command line prints it without a stack and exits with 1.
 */
export class InputError extends Error {
  override readonly name = "InputError";
  /** The path as given by the user. */
  readonly file: string;
  /** Line of the file, counted from 1, if known; 0 if not even the first line was readable. */
  readonly line: number | undefined;
  /** The problem, without file and line. */
  readonly reason: string;

  constructor(file: string, reason: string, details: InputErrorDetails = {}) {
    const where = details.line === undefined || details.line === 0 ? file : `${file}, line ${details.line}`;
    super(`${where}: ${reason}`, details.cause === undefined ? {} : { cause: details.cause });
    this.file = file;
    this.line = details.line;
    this.reason = reason;
  }
}
