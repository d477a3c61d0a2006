import { createHash } from "node:crypto";
import { ENTRY_KINDS, type Entry, type EntryHeader } from "./entry.ts";

/** Version of the header. A node delivers nothing after a version that it cannot read. */
const VERSION = 1;
/** 72 bits: two entries of one log never have the same hash by accident. */
const HASH_CHARACTERS = 12;

/** An entry as the engine stores it. */
export interface StoredEntry {
  readonly header: string;
  readonly body: Buffer;
}

/** Makes an entry, with its hash. */
export function seal(offset: number, header: EntryHeader, body: Buffer): Entry {
  return { offset, header, body, hash: hashOf(headerText(header), body) };
}

export function storedForm({ header, body }: Entry): StoredEntry {
  return { header: headerText(header), body };
}

/**
 * Reads a stored entry.
 *
 * Throws an Error with a sentence for the operator if it is of another version or is no entry.
 */
export function readEntry(offset: number, { header, body }: StoredEntry): Entry {
  return { offset, header: readHeader(header), body, hash: hashOf(header, body) };
}

function headerText({ kind, term, by, nonce, prev, committed, epoch }: EntryHeader): string {
  return JSON.stringify({ v: VERSION, kind, term, by, nonce, prev, committed, epoch });
}

function hashOf(header: string, body: Buffer): string {
  return createHash("sha256")
    .update(header)
    .update("\n")
    .update(body)
    .digest("base64url")
    .slice(0, HASH_CHARACTERS);
}

function readHeader(text: string): EntryHeader {
  const given: unknown = JSON.parse(text);
  const value: Readonly<Record<string, unknown>> = Object(given);
  if (value.v !== VERSION)
    throw new Error(`the log has an entry of version ${value.v}; this node reads ${VERSION}`);
  const kind = ENTRY_KINDS.find((name) => name === value.kind);
  const { term, by, nonce, prev, committed, epoch } = value;
  if (!kind || !isCount(term) || !isCount(committed)) throw new Error("the log has an entry that is none");
  if (!isText(by) || !isText(nonce) || !isText(prev) || !isText(epoch))
    throw new Error("the log has an entry that is none");
  return { kind, term, by, nonce, prev, committed, epoch };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= 256;
}
