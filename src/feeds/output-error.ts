/**
 * Thrown if output cannot be written, as on a full disk or without permission. The message can be
 * shown as is; the command line exits with 1.
 */
export class OutputError extends Error {
  override readonly name: string = "OutputError";
}
