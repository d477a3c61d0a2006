/** What an `InputError` may carry beside file and reason. */
export interface InputErrorDetails {
  /** Line of the file, counted from 1; 0 when not even the first line could be read whole. */
  readonly line?: number;
  readonly cause?: unknown;
}

/**
 * A file that the user named cannot be used, or not to its end: missing, empty, cut, of another form. The message names the
 * file, the line where one is known, and the reason with the value and the bound, so that it can be shown as it stands.
 * The user's error, not the program's: a command line prints it without a stack and exits 1.
 */
export class InputError extends Error {
  override readonly name = "InputError";
  /** The path as the user gave it. */
  readonly file: string;
  /** Line of the file, counted from 1, where the reason lies in one. */
  readonly line: number | undefined;
  /** What is wrong, without file and line. */
  readonly reason: string;

  constructor(file: string, reason: string, details: InputErrorDetails = {}) {
    const place = details.line === undefined || details.line === 0 ? file : `${file}, line ${details.line}`;
    super(`${place}: ${reason}`, details.cause === undefined ? {} : { cause: details.cause });
    this.file = file;
    this.line = details.line;
    this.reason = reason;
  }
}
