/** Names one unbroken history. It changes exactly when continuity with what was sent before cannot be proved. */
export type Epoch = string & { readonly __brand: "Epoch" };

/** An event's place in its epoch: 1 for the first, then without a gap. 0 stands before the first. */
export type Seq = number & { readonly __brand: "Seq" };

/**
 * Names one process's part of an epoch. A log that was set back to an older state, or lost its end, goes on in its epoch with other events in the same
 * places; these are of another run, so a cursor of an event that is gone is told from a cursor of the one in its place.
 */
export type Run = string & { readonly __brand: "Run" };

/**
 * A place in the log: everything up to and including `seq` has been seen. `run` is that of the event at `seq`; the epoch's first run, in which an epoch
 * begins, has none. Clients hold it as an opaque string.
 */
export type Cursor = { readonly epoch: Epoch; readonly seq: Seq; readonly run?: Run | undefined };

const CURSOR = /^([0-9a-z]{4,32})-(0|[1-9]\d{0,14})(?:-([0-9a-z]{1,12}))?$/;

/** The only way to make an {@link Epoch}; throws RangeError unless it is 4 to 32 of `0-9a-z`. */
export function toEpoch(text: string): Epoch {
  if (!/^[0-9a-z]{4,32}$/.test(text)) throw new RangeError(`epoch "${text}" is not 4 to 32 of 0-9a-z`);
  return text as Epoch;
}

/** The only way to make a {@link Seq}; throws RangeError unless it is a whole number from 0 to 2^53 - 1. */
export function toSeq(value: number): Seq {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`seq ${value} is not a whole number >= 0`);
  return value as Seq;
}

/** The only way to make a {@link Run}; throws RangeError unless it is 1 to 12 of `0-9a-z`. */
export function toRun(text: string): Run {
  if (!/^[0-9a-z]{1,12}$/.test(text)) throw new RangeError(`run "${text}" is not 1 to 12 of 0-9a-z`);
  return text as Run;
}

/** `<epoch>-<seq>`, or `<epoch>-<seq>-<run>`: URL-safe, at most 61 characters. */
export function formatCursor({ epoch, seq, run }: Cursor): string {
  return run === undefined ? `${epoch}-${seq}` : `${epoch}-${seq}-${run}`;
}

/** Reads what {@link formatCursor} wrote; `undefined` for anything else, which is outside input and never throws. */
export function parseCursor(text: string): Cursor | undefined {
  const match = CURSOR.exec(text);
  if (!match?.[1] || !match[2]) return undefined;
  const run = match[3] === undefined ? {} : { run: match[3] as Run };
  return { epoch: match[1] as Epoch, seq: Number(match[2]) as Seq, ...run };
}
