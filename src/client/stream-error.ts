/** What kind of thing went wrong: `misuse`: the program's own; `refused`: the server will not have it; `listener`: a listener threw. */
export type StreamErrorCode = "misuse" | "refused" | "listener";

/** Every error that the SDK throws or tells. The message says what to do; `cause` is what was thrown, where something was. */
export class StreamError extends Error {
  override readonly name = "StreamError";
  readonly code: StreamErrorCode;

  constructor(code: StreamErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Refuses what cannot be meant: `what` is wrong, and `instead` is what to do. */
export function misuse(what: string, instead: string): never {
  throw new StreamError("misuse", `${what}: ${instead}`);
}

/** Refuses a name that is not one of `known`, which it lists. */
export function oneOf(what: string, name: unknown, known: readonly string[]): void {
  if (!known.includes(name as string)) misuse(`${what} "${name}" is unknown`, `use ${known.join(", ")}`);
}
