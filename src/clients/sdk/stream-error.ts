/** The program misused the SDK, the server refused the stream, or a listener threw. */
export type StreamErrorCode = "misuse" | "refused" | "listener";

/** Every error that the SDK throws or emits. The message says what to do. */
export class StreamError extends Error {
  override readonly name = "StreamError";
  readonly code: StreamErrorCode;

  constructor(code: StreamErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Throws a `misuse` error: `what` is wrong, and `instead` says what to do. */
export function misuse(what: string, instead: string): never {
  throw new StreamError("misuse", `${what}: ${instead}`);
}

/** Throws unless the name is one of `known`, which the error lists. */
export function oneOf(what: string, name: unknown, known: readonly string[]): void {
  if (!known.includes(name as string)) misuse(`${what} "${name}" is unknown`, `use ${known.join(", ")}`);
}
