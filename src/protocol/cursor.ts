/** Names one unbroken history. It changes exactly when continuity with what was sent before cannot be proved. */
export type Epoch = string & { readonly __brand: "Epoch" };

/** An event's place in its epoch: 1 for the first, then without a gap. 0 stands before the first. */
export type Seq = number & { readonly __brand: "Seq" };

/** A place in the log: everything up to and including `seq` has been seen. Clients hold it as an opaque string. */
export type Cursor = { readonly epoch: Epoch; readonly seq: Seq };

const CURSOR = /^([0-9a-z]{4,32})-(0|[1-9]\d{0,14})$/;

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

/** `<epoch>-<seq>`: URL-safe, at most 48 characters. */
export function formatCursor(cursor: Cursor): string {
  return `${cursor.epoch}-${cursor.seq}`;
}

/** Reads what {@link formatCursor} wrote; `undefined` for anything else, which is outside input and never throws. */
export function parseCursor(text: string): Cursor | undefined {
  const match = CURSOR.exec(text);
  if (!match?.[1] || !match[2]) return undefined;
  return { epoch: match[1] as Epoch, seq: Number(match[2]) as Seq };
}
