/** The id of an unbroken history. A new one starts exactly when continuity cannot be proved. */
export type Epoch = string & { readonly __brand: "Epoch" };

/** An event's number within its epoch, from 1 without a gap. 0 is before the first. */
export type Seq = number & { readonly __brand: "Seq" };

/**
 * The id of one process's part of an epoch. A log that lost its end continues with other events at
 * the same seqs. Their run differs, so that a lost event's cursor is not taken for a new event's.
 */
export type Run = string & { readonly __brand: "Run" };

/**
 * A client's position: it received everything up to the event `seq` of `run`; without a run, of the
 * epoch's first run. Clients treat its text as opaque.
 */
export type Cursor = { readonly epoch: Epoch; readonly seq: Seq; readonly run?: Run | undefined };

const CURSOR = /^([0-9a-z]{4,32})-(0|[1-9]\d{0,14})(?:-([0-9a-z]{1,12}))?$/;

/** Creates an {@link Epoch}. Throws RangeError unless it is 4 to 32 characters of `0-9a-z`. */
export function toEpoch(text: string): Epoch {
  if (!/^[0-9a-z]{4,32}$/.test(text))
    throw new RangeError(`epoch is "${text}"; it must be 4 to 32 characters of 0-9a-z`);
  return text as Epoch;
}

/** Creates a {@link Seq}. Throws RangeError unless it is a whole number from 0 to 2^53 - 1. */
export function toSeq(value: number): Seq {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`seq is ${value}; it must be a whole number from 0 to 2^53 - 1`);
  return value as Seq;
}

/** Creates a {@link Run}. Throws RangeError unless it is 1 to 12 characters of `0-9a-z`. */
export function toRun(text: string): Run {
  if (!/^[0-9a-z]{1,12}$/.test(text))
    throw new RangeError(`run is "${text}"; it must be 1 to 12 characters of 0-9a-z`);
  return text as Run;
}

/** Formats `<epoch>-<seq>` or `<epoch>-<seq>-<run>`: URL-safe, at most 62 characters. */
export function formatCursor({ epoch, seq, run }: Cursor): string {
  return run === undefined ? `${epoch}-${seq}` : `${epoch}-${seq}-${run}`;
}

/**
 * Parses {@link formatCursor}'s result. Returns `undefined` for other text, and from seq 10^15 on.
 */
export function parseCursor(text: string): Cursor | undefined {
  const match = CURSOR.exec(text);
  if (!match?.[1] || !match[2]) return undefined;
  const run = match[3] === undefined ? {} : { run: match[3] as Run };
  return { epoch: match[1] as Epoch, seq: Number(match[2]) as Seq, ...run };
}
