import { createHash } from "node:crypto";
import { messageOf } from "../../base/lib/text/message-of.ts";
import { type Entry, EntryHeader } from "./entry.ts";

/** Version of the header. A node stops delivering at an entry whose version it cannot read. */
const VERSION = 1;
/** 72 bits: two entries of one log practically never have the same hash. */
const HASH_CHARACTERS = 12;

/** An entry that this node cannot read: it is malformed, or of another version. */
export class UnreadableEntry extends Error {}

interface StoredEntry {
  readonly header: string;
  readonly body: Buffer;
}

/** Creates an entry and computes its hash. */
export function seal(offset: number, header: EntryHeader, body: Buffer): Entry {
  return { offset, header, body, hash: hashOf(headerText(header), body) };
}

export function toStoredEntry({ header, body }: Entry): StoredEntry {
  return { header: headerText(header), body };
}

/** Parses a stored entry. Throws {@link UnreadableEntry} with the reason for the operator. */
export function readEntry(offset: number, { header, body }: StoredEntry): Entry {
  try {
    return { offset, header: readHeader(header), body, hash: hashOf(header, body) };
  } catch (cause) {
    throw new UnreadableEntry(`entry ${offset}: ${messageOf(cause)}`, { cause });
  }
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
  const parsed: unknown = JSON.parse(text);
  const { v } = Object(parsed);
  if (v !== VERSION) throw new Error(`its version is ${v}; this node reads ${VERSION}`);
  const header = EntryHeader.safeParse(parsed).data;
  if (!header) throw new Error("it is malformed");
  return header;
}
